# SPDX-License-Identifier: Apache-2.0
#
# usage: format.pl ROOT
#
# Sources are formatted as clang-format 14 does it by .clang-format.  Exits with
# 77 where that version is not installed: others format differently.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Lint qw(sources finding);

my $version = 14;
my ($root) = @ARGV;
my ($clang_format) = grep {
  (`$_ --version 2>/dev/null` // '') =~ /version $version\./
} "clang-format-$version", 'clang-format';
if (!$clang_format) {
  print "clang-format $version is not installed\n";
  exit 77;
}
for my $path (sources($root)) {
  my $style = "--style=file:$FindBin::Bin/../../.clang-format";
  my $warning = `$clang_format $style --dry-run '$root/$path' 2>&1`;
  my ($line) = $warning =~ /:(\d+):\d+: warning/ or next;
  finding("$path:$line: not as clang-format -i makes it");
}
