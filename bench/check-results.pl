#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
#
# usage: check-results.pl FOLDER
#
# Exits 0 if FOLDER holds what bench/run.sh leaves there: JSON with its context
# and with results, and pictures that are well-formed XML and show lines.
use strict;
use warnings;
use JSON::PP;

my ($folder) = @ARGV;

sub read_file {
    my ($name) = @_;
    open(my $file, '<', "$folder/$name") or die "$name: $!\n";
    local $/;
    return <$file>;
}

sub check {
    my ($ok, $what) = @_;
    die "$what\n" unless $ok;
}

sub check_context {
    my ($name, $context) = @_;
    for my $key (qw(commit compiler cpu elision version)) {
        check(length($context->{$key} // ''), "$name: no $key");
    }
}

# Returns the benchmarks by name.
sub google_benchmark {
    my ($name) = @_;
    my $json = decode_json(read_file($name));
    check_context($name, $json->{context});
    my %benchmarks;
    for my $benchmark (@{$json->{benchmarks}}) {
        check(length($benchmark->{error_message} // '') || $benchmark->{real_time} > 0,
              "$name: $benchmark->{name} has neither time nor reason");
        $benchmarks{$benchmark->{name}} = $benchmark;
    }
    check(%benchmarks, "$name: empty");
    return \%benchmarks;
}

# Dies if TEXT is no well-formed XML of elements, attributes and plain text.
sub check_xml {
    my ($name, $text) = @_;
    my @open;
    while ($text =~ m{\G(?:([^<]+)|<(/?)([a-z]+)((?:\s+[\w:-]+="[^"<&]*")*)\s*(/?)>)}gc) {
        my ($between, $end, $tag, $single) = ($1, $2, $3, $5);
        if (defined $between) {
            check($between !~ /&(?!amp;|lt;|gt;)/, "$name: a bare &");
        } elsif ($end) {
            check(@open && pop(@open) eq $tag, "$name: </$tag>");
        } elsif (!$single) {
            push @open, $tag;
        }
    }
    check((pos($text) // 0) == length($text), "$name: no tag");
    check(!@open, "$name: <@open> without an end");
}

my $locks = google_benchmark('lock-unlock.json');
for my $lock ('ovs_mutex/off', 'ovs_mutex/auto', 'ovs_spin/off',
              'ovs_rwlock.read/off', 'SpinLock/auto', 'std::mutex/real') {
    for my $threads (1, 2, 4) {
        my $name = "$lock/counter/manual_time/threads:$threads";
        my $result = $locks->{$name} // die "$name is missing\n";
        my $sum = 0;
        $sum += $result->{"thread_$_"} for 0 .. $threads - 1;
        check(abs($sum / $result->{items_per_second} - 1) < 0.01,
              "$name: the threads' work is not all");
    }
}
my $floors = google_benchmark('floors.json');
check($floors->{atomic_add}{real_time} > 0, 'no atomic_add');
check($floors->{"transaction_$_"}, "no transaction_$_") for qw(empty load_store abort);
check(google_benchmark('map-find.json')->{'BM_Find<bench::Cmap>/1024'}, 'no cmap');
google_benchmark('map-insert.json');

my $pairs = decode_json(read_file('lock-pairs.json'));
check_context('lock-pairs.json', $pairs->{context});
check(@{$pairs->{comparisons}} == 10, 'not every claim');
for my $pair (@{$pairs->{comparisons}}) {
    my $what = "$pair->{a}{name} / $pair->{b}{name}";
    next if $pair->{verdict} eq 'skipped' && length $pair->{skipped};
    check($pair->{verdict} =~ /^(holds|unclear|fails)$/, "$what: $pair->{verdict}");
    check($pair->{ratio_low} <= $pair->{ratio} && $pair->{ratio} <= $pair->{ratio_high},
          "$what: the ratio is outside its interval");
    check($pair->{$_}{ns} > 0, "$what: no time of $_") for qw(a b);
}

my $picture = read_file('lock-unlock-counter.svg');
check_xml('lock-unlock-counter.svg', $picture);
check(scalar(() = $picture =~ /<polyline /g) >= 2 * 10, 'too few lines');
check($picture =~ />ovs_mutex auto</, 'no ovs_mutex');
