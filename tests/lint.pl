# SPDX-License-Identifier: Apache-2.0
#
# usage: lint.pl [LINT...]      floors, format, ...; default: all
#
# Runs the lints of tests/lint/ over the project, and over the cases that show
# that each finds what it should.  A file NAME.cases holds the cases of NAME.pl:
#
#   == bad: what is wrong          or  == good: what is right
#   the finding expected, or its beginning
#   -- path/of/a/file              or  -- path/of/a/file (601 lines)
#   its text, in which @@ is left out; filled up with empty lines
#
# Prints TAP.
use strict;
use warnings;
use File::Basename;
use File::Path 'make_path';
use File::Temp 'tempdir';
use FindBin;

my $folder = "$FindBin::Bin/lint";
my @lints = map { basename($_, '.pl') } sort glob "$folder/*.pl";
@lints = @ARGV if @ARGV;

my $n = 0;
sub result {
  my ($ok, $name, $output) = @_;
  print map { "#   $_\n" } split /\n/, $output unless $ok;
  print $ok ? 'ok ' : 'not ok ', ++$n, " - $name\n";
}

# Returns the exit status of LINT over ROOT and what it prints.
sub lint {
  my ($lint, $root) = @_;
  my $output = `$^X '$folder/$lint.pl' '$root' 2>&1`;
  return ($? >> 8 || $?, $output);
}

# Returns [kind, name, expected finding, {path => text}] of each case.
sub cases {
  my ($path) = @_;
  my (@cases, $file);
  open(my $in, '<', $path) or die "$path: $!";
  while (my $line = <$in>) {
    if ($line =~ /^== (good|bad): (.*)/) {
      push @cases, [$1, $2, '', {}];
      $file = undef;
    } elsif ($line =~ /^-- (\S+)(?: \((\d+) lines\))?$/) {
      $file = $cases[-1][3]{$1} = {text => '', length => $2 // 0};
    } elsif ($file) {
      $file->{text} .= $line =~ s/@@//gr;
    } elsif ($line ne "\n") {
      chomp($cases[-1][2] = $line);
    }
  }
  for my $files (map { $_->[3] } @cases) {
    for my $path (keys %$files) {
      my $text = $files->{$path}{text} =~ s/\n+$/\n/r;
      my $missing = $files->{$path}{length} - ($text =~ tr/\n//);
      $files->{$path} = $text . "\n" x ($missing > 0 ? $missing : 0);
    }
  }
  return @cases;
}

for my $lint (@lints) {
  my ($status, $output) = lint($lint, "$FindBin::Bin/..");
  if ($status == 77) {
    chomp $output;
    print 'ok ', ++$n, " - $lint: the project # SKIP $output\n";
    next;
  }
  result($status == 0, "$lint: the project", $output);
  for (cases("$folder/$lint.cases")) {
    my ($kind, $name, $expected, $files) = @$_;
    my $root = tempdir(CLEANUP => 1);
    for my $path (keys %$files) {
      make_path(dirname("$root/$path"));
      open(my $out, '>', "$root/$path") or die "$root/$path: $!";
      print $out $files->{$path};
      close $out;
    }
    my ($status, $output) = lint($lint, $root);
    my $ok = $kind eq 'good' ? $status == 0
      : $status == 1 && $expected ne '' && grep { index($_, $expected) == 0 } split /\n/, $output;
    result($ok, "$lint: $name is $kind", $output);
  }
}
print "1..$n\n";
