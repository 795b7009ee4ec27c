# SPDX-License-Identifier: Apache-2.0
#
# What the lints share: which files there are and what is in them.
package Lint;

use strict;
use warnings;
use Exporter 'import';
use File::Find;

our @EXPORT_OK = qw(sources texts lines comments finding);

# The paths below ROOT, in the given FOLDERS, that match PATTERN; sorted.
sub files {
  my ($root, $pattern, @folders) = @_;
  my @found;
  @folders = grep { -d "$root/$_" } @folders;
  find({ no_chdir => 1, wanted => sub {
    push @found, substr($_, length($root) + 1) if -f && $_ =~ $pattern;
  } }, map { "$root/$_" } @folders) if @folders;
  return sort @found;
}

# C and C++ sources; FOLDERS default to all that hold any.
sub sources {
  my ($root, @folders) = @_;
  @folders = qw(lib include tests bench) unless @folders;
  return files($root, qr/\.(h|c|cc)$/, @folders);
}

# Everything written by hand.
sub texts {
  my ($root) = @_;
  my $generated = qr{^(Makefile\.in|aclocal\.m4|configure|config\.h\.in)~?$};
  opendir(my $dir, $root) or die "$root: $!";
  my @top = grep { -f "$root/$_" && $_ ne '.git' && !/$generated/ } readdir $dir;
  return sort @top, grep { !m{^m4/(libtool|lt[^/]*)\.m4$} }
    files($root, qr/./, qw(.ci bench include lib m4 tests));
}

sub lines {
  my ($root, $path) = @_;
  open(my $file, '<', "$root/$path") or die "$root/$path: $!";
  my @lines = <$file>;
  chomp @lines;
  return @lines;
}

# The comments of LINES as [first line, last line, text on one line]; lines that
# hold nothing but a // comment are one comment.
sub comments {
  my @lines = @_;
  my (@comments, $open);
  for my $i (0 .. $#lines) {
    my $line = $lines[$i];
    if ($open) {
      $comments[-1][1] = $i + 1;
      $comments[-1][2] .= ' ' . ($line =~ s{^\s*\*?\s*}{}r =~ s{\*/.*}{}r);
      $open = $line !~ m{\*/};
    } elsif ($line =~ m{^\s*//} && $i > 0 && $lines[$i - 1] =~ m{^\s*//}) {
      $comments[-1][1] = $i + 1;
      $comments[-1][2] .= ' ' . ($line =~ s{^\s*//\s?}{}r);
    } elsif ($line =~ m{//\s?(.*)}) {
      push @comments, [$i + 1, $i + 1, $1];
    } elsif ($line =~ m{/\*\s?(.*)}) {
      my $text = $1;
      $open = $text !~ s{\*/.*}{};
      push @comments, [$i + 1, $i + 1, $text];
    }
  }
  return @comments;
}

my $findings = 0;
sub finding {
  print "@_\n";
  $findings++;
}

# A lint fails if it found anything.
END { $? = 1 if $findings && !$? }

1;
