#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
#
# usage: check-benchmark-json.pl NAME=VALUE... <JSON
#
# Exits 0 if standard input is one JSON object of the form that "ovstest
# test-cmap benchmark --json" promises, and its members NAME have the VALUE.
# Further names: tm and pthread (1: those columns are there, 0: they are null).
use strict;
use warnings;
use JSON::PP;
use Scalar::Util qw(looks_like_number);

my %want = map { split /=/, $_, 2 } @ARGV;
my $text = do { local $/; <STDIN> };
my $json = JSON::PP->new->utf8->allow_nonref(0)->decode($text);

sub check {
    my ($ok, $what) = @_;
    die "$what\n" unless $ok;
}

sub has_exactly {
    my ($object, $what, @keys) = @_;
    check(ref $object eq 'HASH', "$what is no object");
    check("@{[sort keys %$object]}" eq "@{[sort @keys]}",
          "$what has the keys @{[sort keys %$object]}");
}

sub is_time {
    my ($value) = @_;
    return defined $value && looks_like_number($value) && $value >= 0;
}

my @numbers = qw(n threads mutation batch rounds seed);
my @phases = qw(insert iterate search destroy);
my @causes = qw(busy conflict capacity cold nested safe_point other);

has_exactly($json, 'the object', @numbers, 'elision', 'results');
for my $name (@numbers) {
    check(looks_like_number($json->{$name}), "$name is no number");
    check(!defined $want{$name} || $json->{$name} == $want{$name},
          "$name is $json->{$name}");
}
has_exactly($json->{elision}, 'elision', qw(available reason));
check(JSON::PP::is_bool($json->{elision}{available}), 'available is no boolean');
check(length $json->{elision}{reason}, 'no reason');

my @results = @{$json->{results}};
check(@results == 12, 'there are ' . @results . ' results');
for my $container (qw(cmap-batch cmap hmap)) {
    for my $phase (@phases) {
        my $result = shift @results;
        my $what = "$container $phase";
        has_exactly($result, $what, qw(container phase baseline_ms tm_ms
            pthread_ms ratio ratio_low ratio_high elided_share aborts));
        check("$result->{container} $result->{phase}" eq $what,
              "$result->{container} $result->{phase} instead of $what");
        check(is_time($result->{baseline_ms}), "$what: baseline_ms");

        my $tm = $phase eq 'search' && $want{tm};
        for my $name (qw(tm_ms ratio ratio_low ratio_high)) {
            check($tm ? is_time($result->{$name}) : !defined $result->{$name},
                  "$what: $name");
        }
        if ($tm) {
            check($result->{ratio_low} <= $result->{ratio}
                  && $result->{ratio} <= $result->{ratio_high},
                  "$what: the ratio is outside its interval");
        }
        my $share = $result->{elided_share};
        check(!defined $share || ($tm && $share >= 0 && $share <= 1),
              "$what: elided_share");
        my $pthread = $phase eq 'search' && $want{pthread};
        check($pthread ? is_time($result->{pthread_ms})
                       : !defined $result->{pthread_ms}, "$what: pthread_ms");

        has_exactly($result->{aborts}, "$what: aborts", @causes);
        for my $cause (@causes) {
            my $count = $result->{aborts}{$cause};
            check($count =~ /^[0-9]+$/ && ($tm || $count == 0),
                  "$what: $count aborts by $cause");
        }
    }
}
