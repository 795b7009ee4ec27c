# SPDX-License-Identifier: Apache-2.0
#
# usage: pairs.pl ROOT
#
# Every order but relaxed carries a number, explained nearby, and each number
# has its partner (see lib/atomics.h):
#
#   // (1) publishes the node; pairs with (2).
#   slot.store(word, A::release(1));
#
# Numbers belong to an algorithm: the files that share the first word of their
# name; "pairs with (2) of foo" names another one, "pairs with the kernel's ..." a
# barrier of a system call.  One number is one role, which may be played at
# several places.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Lint qw(sources lines comments finding);

my $reach = 12;  # Lines between a comment and the operation that it explains.
my $order = qr/(?:acquire|release|acq_rel|seq_cst)/;
my $plain = qr/\bmemory_order(?:_|::)(?:$order|consume)\b|\b__ATOMIC_(?:ACQUIRE|RELEASE|ACQ_REL|SEQ_CST|CONSUME)\b/;

# Per algorithm: number => where it is first used, => its order, => {partners}.
my (%used, %order_of, %partners);

# The pairs that a comment of ALGORITHM states, as [number, partner, ...]; a
# partner is "algorithm number".
sub pairs {
  my ($algorithm, $text) = @_;
  my @pairs;
  while ($text =~ /\((\d+)\)(?:(?!pairs with|\.\s+\(\d).)*pairs with((?:[\s,]|and|the kernel|\(\d+\)(?: of \w+)?)+)/g) {
    my ($pair, $partners) = ([$1], $2);
    push @$pair, 'kernel' if $partners =~ /the kernel/;
    while ($partners =~ /\((\d+)\)(?: of (\w+))?/g) {
      push @$pair, ($2 // $algorithm) . " $1";
    }
    push @pairs, $pair;
  }
  return @pairs;
}

my ($root) = @ARGV;
for my $path (sources($root, qw(lib include))) {
  next if $path eq 'lib/atomics.h' || $path =~ m{/compat/fallback/};
  my ($algorithm) = $path =~ m{([^/.-]+)[^/]*$};
  my @lines = lines($root, $path);
  my @comments = comments(@lines);
  for my $comment (@comments) {
    for (pairs($algorithm, $comment->[2])) {
      my ($number, @partners) = @$_;
      $partners{$algorithm}{$number}{$_} = 1 for @partners;
    }
  }
  for my $i (0 .. $#lines) {
    my $code = $lines[$i] =~ s{//.*|/\*.*?(\*/|$)}{}r;
    next if $code =~ /^\s*\*/;
    my $where = "$path:" . ($i + 1);
    my $near = join ' ', map { $_->[2] }
      grep { $_->[0] <= $i + 1 && $_->[1] >= $i + 1 - $reach } @comments;
    while ($code =~ /::($order)\((\d+)\)/g) {
      my ($kind, $number) = ($1, $2);
      $used{$algorithm}{$number} //= $where;
      my $known = $order_of{$algorithm}{$number} //= $kind;
      finding("$where: ($number) is $kind here but $known at $used{$algorithm}{$number}")
        if $known ne $kind;
      finding("$where: no comment nearby explains ($number)")
        if $near !~ /\($number\)/;
    }
    if ($code =~ $plain && $code !~ /\batomic_signal_fence\b/) {
      my @numbers = map { $_->[0] } pairs($algorithm, $near);
      $used{$algorithm}{$_} //= $where for @numbers;
      finding("$where: an order without a number") if !@numbers;
    }
  }
}

for my $algorithm (sort keys %used) {
  for my $number (sort { $a <=> $b } keys %{$used{$algorithm}}) {
    my $where = $used{$algorithm}{$number};
    my @partners = sort keys %{$partners{$algorithm}{$number} // {}};
    finding("$where: no comment says with what ($number) pairs") if !@partners;
    for my $partner (@partners) {
      next if $partner eq 'kernel';
      my ($other, $its) = split / /, $partner;
      my $name = "($its)" . ($other ne $algorithm ? " of $other" : '');
      if (!$used{$other}{$its}) {
        finding("$where: ($number) pairs with $name, which nothing carries");
      } elsif (!$partners{$other}{$its}{"$algorithm $number"}) {
        finding("$where: ($number) pairs with $name, which does not say so");
      }
    }
  }
}
