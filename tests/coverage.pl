#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
#
# usage: coverage.pl SRCDIR GCOV      (in the build tree; "make check-coverage")
#
# Which lines and branches of the elision sources the tests have run that ran
# since the counts were last deleted.
#
# A header's function is compiled into many objects, a template into several
# functions of one: a line's count is the sum of them all.  So is a branch's, of
# those functions in which the line has the most branches (where a condition is
# a constant, there is none).  Neither branches that only an exception takes
# count, nor lines that are only a brace.
#
# Fails if a line was not run, or a branch on a line not taken, that
# tests/coverage.missed does not name with its reason.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Find;
use JSON::PP;

my ($srcdir, $gcov) = @ARGV;
my $root = abs_path($srcdir);
my $measured = qr{^lib/(?:elision|held-locks|lock-operations|lock-stats)[^/]*$};

# {FILE}{LINE} = {count => N, branches => {LENGTH => [N, ...]}}
my %lines;

sub add_line {
    my ($file, $line) = @_;
    my $sum = $lines{$file}{$line->{line_number}} //= {count => 0, branches => {}};
    $sum->{count} += $line->{count};
    my @counts = map { $_->{count} } grep { !$_->{throw} } @{$line->{branches}};
    my $sums = $sum->{branches}{scalar @counts} //= [(0) x @counts];
    $sums->[$_] += $counts[$_] for 0 .. $#counts;
}

sub add_object {
    my ($json) = @_;
    for my $file (@{$json->{files}}) {
        my $path = $file->{file};
        $path = "$json->{current_working_directory}/$path" if $path !~ m{^/};
        $path = abs_path($path) // next;
        next unless $path =~ s{^\Q$root\E/}{} && $path =~ $measured;
        add_line($path, $_) for @{$file->{lines}};
    }
}

my @objects;
find(sub { push @objects, $File::Find::name if /\.gcda$/ }, '.');
die "coverage.pl: no test has run\n" unless @objects;
open(my $output, '-|', $gcov, qw(--json-format --stdout --branch-probabilities), @objects)
    or die "coverage.pl: $gcov: $!\n";
add_object(decode_json($_)) while <$output>;
close($output) or die "coverage.pl: $gcov failed\n";

# {FILE}{TEXT} = {what => line or branch, why => REASON, used => 0}
my %known;
open(my $list, '<', "$srcdir/tests/coverage.missed") or die "coverage.missed: $!\n";
my $file;
while (<$list>) {
    chomp;
    next if /^#/ || !/\S/;
    if (/^(\S+):$/) { $file = $1; next }
    my ($what, $text, $why) = /^(line|branch)  (.*?)  -- (.*)$/
        or die "coverage.missed:$.: neither a file nor what it misses\n";
    $known{$file}{$what}{$text} = {why => $why, used => 0};
}

my $failed = 0;
sub complain {
    print "not ok: $_[0]\n";
    $failed = 1;
}

# Of WHAT on a line with TEXT; complains if nothing is known of it.
sub explain {
    my ($file, $number, $what, $text) = @_;
    my $entry = $known{$file}{$what}{$text};
    if ($entry) {
        $entry->{used} = 1;
    } else {
        complain("$file:$number: $what missed: $text");
    }
}

printf "%-32s %17s %17s\n", '', 'lines', 'branches';
my @total = (0) x 4;
for my $file (sort keys %lines) {
    open(my $source, '<', "$srcdir/$file") or die "$file: $!\n";
    my @text = <$source>;
    s/^\s+|\s+$//g for @text;
    my @sum = (0) x 4;
    for my $number (sort { $a <=> $b } keys %{$lines{$file}}) {
        my $line = $lines{$file}{$number};
        my $text = $text[$number - 1];
        next if $text =~ /^[{}]+;?$/;
        $sum[1]++;
        if ($line->{count}) {
            $sum[0]++;
        } else {
            explain($file, $number, 'line', $text);
        }
        my ($most) = sort { $b <=> $a } keys %{$line->{branches}};
        my @branches = @{$line->{branches}{$most}};
        my $taken = grep { $_ } @branches;
        $sum[2] += $taken;
        $sum[3] += @branches;
        explain($file, $number, 'branch', $text) if $line->{count} && $taken < @branches;
    }
    print_sums($file, @sum);
    $total[$_] += $sum[$_] for 0 .. 3;
}
print_sums('all', @total);

sub print_sums {
    my ($name, @sum) = @_;
    my $share = sub {
        my ($part, $whole) = @_;
        return $whole ? sprintf('%d of %d, %5.1f %%', $part, $whole, 100 * $part / $whole) : '-';
    };
    printf "%-26s %20s %20s\n", $name, $share->(@sum[0, 1]), $share->(@sum[2, 3]);
}

for my $file (sort keys %known) {
    for my $what (sort keys %{$known{$file}}) {
        for my $text (sort keys %{$known{$file}{$what}}) {
            my $entry = $known{$file}{$what}{$text};
            print "$file: $what missed: $text: $entry->{why}\n" if $entry->{used};
        }
    }
}
exit $failed;
