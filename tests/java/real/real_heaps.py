#!/usr/bin/env python3
"""real_heaps.py - what heapdb says first of heaps of real libraries, against a table.

    python3 tests/java/real/real_heaps.py [--out FOLDER] [--keep] [--again] [--table FILE.md] [PROGRAM | PROGRAM.MODE ...]

heaps.tsv has a line for each heap: program and mode (tests/java/real/PROGRAM.java makes it), what the
first sentence of `leaks` must have (owner, number), and the rule that must explain it; "-" is nothing.
Modes that end in "ok" are programs without a fault: no rule may call anything in them a leak, unbounded or
misconfigured. Maven brings the libraries that a program names in its lines "// jars" ("!": without those
that it needs), once, into REAL_JARS (build/real-jars). Exit 77 where a JDK 17 or Maven is not available, 1 where a line does not hold.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
JARS = pathlib.Path(os.environ.get('REAL_JARS', ROOT / 'build/real-jars'))
ALARMS = ('leak', 'unbounded', 'misconfigured')
POM = '''<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>heapdb</groupId><artifactId>real-heaps</artifactId><version>1</version><dependencies>
%s</dependencies></project>
'''


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options).stdout


def bring_jars(program, text):
    """The libraries of a program, as a class path."""
    names = [n for line in re.findall(r'^// jars (.*)', text, re.M) for n in line.split()]
    alone = '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>'
    pom = POM % ''.join('<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version>%s'
                        '</dependency>\n' % (*n.rstrip('!').split(':'), alone if n.endswith('!') else '')
                        for n in names)
    folder = JARS / program
    if not (folder / 'pom.xml').is_file() or (folder / 'pom.xml').read_text() != pom:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / 'new.xml').write_text(pom)
        run('mvn', '-q', '-B', '-f', str(folder / 'new.xml'), 'dependency:copy-dependencies',
            '-DincludeScope=runtime', '-DoutputDirectory=%s' % folder)
        (folder / 'new.xml').rename(folder / 'pom.xml')
    return '%s/*' % folder


def compile_program(program, out):
    source = HERE / (program + '.java')
    text = source.read_text()
    path = '%s:%s' % (out / program, bring_jars(program, text))
    run('javac', '-proc:none', '-Xlint:none', '-nowarn', '-d', str(out / program), '-cp', path, str(HERE / 'Real.java'),
        str(source))
    flags = re.findall(r'^// java (.*)', text, re.M)
    return ['java', '-XX:+UseSerialGC', '-XX:-UsePerfData', *' '.join(flags).split(), '-cp', path, program]


def answer(database, query, *options):
    return json.loads(run('heapdb', 'query', query, *options, '--db', str(database), '--json'))['rows']


def look(database):
    """First sentence, and the rules that fit: their names and verdicts."""
    suspects = [row for row in answer(database, 'leaks', '--brief') if row['kind'] == 'suspect']
    rules = answer(database, 'explain', '--threshold', '0')
    large = answer(database, 'explain')
    return (suspects[0]['text'] if suspects else 'no suspect',
            {row['rule']: row['verdict'] for row in rules}, [row['text'] for row in large])


def judge(line, sentence, rules):
    bad = []
    for key in ('owner', 'number'):
        if line[key] != '-' and line[key] not in sentence:
            bad.append('%s: no "%s"' % (key, line[key]))
    for rule in line['rule'].split():
        if rule != '-' and rule not in rules:
            bad.append('rule: not %s but %s' % (rule, ' '.join(rules) or 'none'))
    if line['mode'].endswith('ok'):
        bad += ['false alarm: ' + name for name, verdict in rules.items() if verdict in ALARMS]
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--out', default='.')
    parser.add_argument('--table')
    parser.add_argument('--keep', action='store_true', help='keep the dumps')
    parser.add_argument('--again', action='store_true', help='ask the databases that are there')
    parser.add_argument('programs', nargs='*')
    arguments = parser.parse_args()
    for tool in ('java', 'javac', 'mvn'):
        if not shutil.which(tool):
            print('no %s here' % tool)
            return 77
    out = pathlib.Path(arguments.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    failed, done, commands, table = 0, 0, {}, []
    with open(HERE / 'heaps.tsv') as file:
        lines = list(csv.DictReader((x for x in file if not x.startswith('#')), delimiter='\t'))
    for line in lines:
        program, name = line['program'], '%s.%s' % (line['program'], line['mode'])
        if arguments.programs and program not in arguments.programs and name not in arguments.programs:
            continue
        try:
            dump = out / (name + '.hprof')
            if not (arguments.again and dump.is_file()):
                if program not in commands:
                    commands[program] = compile_program(program, out)
                dump.unlink(missing_ok=True)
                run(*commands[program], str(dump), line['mode'], cwd=out, timeout=300)
                run('heapdb', 'import', str(dump), '-o', str(out / (name + '.heapdb')), '--force', '--quiet')
            sentence, rules, large = look(out / (name + '.heapdb'))
            if not arguments.keep:
                dump.unlink()
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print('FAILED: %s cannot be made: %s\n%s' % (name, error, (error.stdout or '')[:600]))
            failed += 1
            continue
        bad = judge(line, sentence, rules)
        print('%s: %s\n    %s%s' % (name, sentence, ' '.join('%s (%s)' % rule for rule in rules.items()) or 'no rule',
                                    ''.join('\n    ' + text for text in large)))
        for text in bad:
            print('FAILED: %s: %s' % (name, text))
        failed += bool(bad)
        done += 1
        table.append((name, sentence, ', '.join('%s: %s' % rule for rule in rules.items()), '; '.join(bad) or 'holds'))
    if arguments.table:
        with open(arguments.table, 'w') as file:
            file.write('| heap | first sentence | rules | verdict |\n|---|---|---|---|\n')
            file.writelines('| %s |\n' % ' | '.join(row) for row in table)
    print('%d heaps, %d failed' % (done, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
