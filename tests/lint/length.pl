# SPDX-License-Identifier: Apache-2.0
#
# usage: length.pl ROOT
#
# No source is longer than 600 lines, unless a comment in it says why: "Longer
# than 600 lines because ...".
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Lint qw(texts lines finding);

my $limit = 600;
my ($root) = @ARGV;
for my $path (texts($root)) {
  next if $path eq 'COPYING';
  my @lines = lines($root, $path);
  next if @lines <= $limit || grep { /[Ll]onger than $limit lines because / } @lines;
  finding("$path: " . @lines . " lines, more than $limit, and no stated reason");
}
