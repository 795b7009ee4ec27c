# SPDX-License-Identifier: Apache-2.0
#
# usage: words.pl ROOT
#
# The text speaks of the project alone and is finished: no absolute path of
# somebody's machine, no note of what is still to do.  Every source states its
# license in its first lines.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Lint qw(sources texts lines finding);

# Split, so that this file does not match itself.
my @words = (
  [qr{/(?:wor[k]|hom[e]|roo[t]|far[m])/}, 'a path of one machine'],
  [qr{/tm[p]/(?:wt|b|t)/}, 'a path of one machine'],
  [qr{\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b}, 'unfinished'],
);

my ($root) = @ARGV;
for my $path (texts($root)) {
  next if $path eq 'COPYING';
  my $number = 0;
  for my $line (lines($root, $path)) {
    $number++;
    for (@words) {
      my ($word, $what) = @$_;
      finding("$path:$number: $what: $&") if $line =~ $word;
    }
  }
}
for my $path (sources($root)) {
  my @lines = lines($root, $path);
  finding("$path: no SPDX-License-Identifier in its first lines")
    unless grep { defined && /SPDX-License-Identifier: / } @lines[0 .. 1];
}
