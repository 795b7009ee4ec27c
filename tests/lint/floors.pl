# SPDX-License-Identifier: Apache-2.0
#
# usage: floors.pl ROOT
#
# Includes go only downward between the floors of the library, or stay on one.
# A file stands on the floor of the longest name below that its own name equals
# or continues after a hyphen (rcu-core.h: rcu).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Lint qw(sources lines finding);

my @floors = (
  [qw(annotations atomics cache-line cpu futex hash log thread-id version)],
  [qw(elision held-locks lock-site lock-stats lock-word)],
  [qw(cond lock mutex rwlock rwsem spinlock)],
  [qw(rcu thread topology)],
  [qw(cmap hmap)],
  [qw(compat concurrent-map)],
);

# Includes that go upward all the same, and why.
my %allowed = (
  'lib/log.cc -> lib/elision.h' => 'a fatal message ends the transaction first',
);

my %floor_of;
for my $floor (0 .. $#floors) {
  $floor_of{$_} = $floor for @{$floors[$floor]};
}

sub floor {
  my ($path) = @_;
  return $#floors if $path =~ m{^include/ovsthread/compat/};
  my ($name) = $path =~ m{([^/.]+)\.[^/]*$};
  for (;; $name =~ s/-[^-]*$//) {
    return $floor_of{$name} if exists $floor_of{$name};
    return undef if $name !~ /-/;
  }
}

# The file of the project that PATH includes as NAME, or undef.
my ($root) = @ARGV;
sub resolve {
  my ($path, $name) = @_;
  my ($folder) = $path =~ m{^(.*)/};
  for my $try ($folder, 'lib', 'include', 'include/ovsthread/compat',
               'include/ovsthread/compat/fallback') {
    return "$try/$name" if -f "$root/$try/$name" || -f "$root/$try/$name.in";
  }
  return undef;
}

for my $path (sources($root, qw(lib include))) {
  my $from = floor($path);
  if (!defined $from) {
    finding("$path: on no floor; name it in the table of floors.pl");
    next;
  }
  for my $line (lines($root, $path)) {
    my ($name) = $line =~ /^\s*#\s*include\s*["<]([^">]+)[">]/ or next;
    my $target = resolve($path, $name) or next;
    my $to = floor($target);
    next if !defined $to || $to <= $from || $allowed{"$path -> $target"};
    finding("$path: on floor $from, includes $target, on floor $to");
  }
}
