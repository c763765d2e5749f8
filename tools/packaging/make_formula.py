"""Writes a Homebrew formula: make_formula.py DIR ADDRESS > heapdb.rb

The formula installs the binaries in DIR (heapdb-VERSION-SYSTEM-MACHINE.tar.gz), which will be published at
ADDRESS/NAME, for each combination of macOS or Linux and machine in DIR.
"""
import hashlib
import os
import sys

from make_image import read, version

SYSTEMS = (("macos", "on_macos"), ("linux", "on_linux"))
MACHINES = (("aarch64", "on_arm"), ("x86_64", "on_intel"))
HEAD = '''class Heapdb < Formula
  desc "Indexed database for Java and Android heap dumps"
  homepage "{homepage}"
  version "{version}"
  license "MIT"
'''
TAIL = '''
  def install
    bin.install "heapdb"
    man1.install Dir["*.1"]
    bash_completion.install "heapdb.bash" => "heapdb"
    zsh_completion.install "_heapdb"
    fish_completion.install "heapdb.fish"
    doc.install "LICENSE", "NOTICES", "README.md", "CHANGELOG.md"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/heapdb --version")
  end
end
'''


def main(folder, homepage, address):
    lines = [HEAD.format(homepage=homepage, version=version())]
    for system, on_system in SYSTEMS:
        block = ""
        for machine, on_machine in MACHINES:
            name = f"heapdb-{version()}-{system}-{machine}.tar.gz"
            if os.path.exists(os.path.join(folder, name)):
                digest = hashlib.sha256(read(os.path.join(folder, name))).hexdigest()
                block += (f'    {on_machine} do\n      url "{address}/{name}"\n'
                          f'      sha256 "{digest}"\n    end\n')
        if block:
            lines.append(f"\n  {on_system} do\n{block}  end\n")
    print("".join(lines) + TAIL, end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
