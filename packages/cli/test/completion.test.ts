import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@leasehold/testing'
import { describeUnless } from '@leasehold/testing/describe-unless'
import { expect, it } from 'vitest'
import { declarations } from '../src/commands.js'
import { TestTerminal } from './support/test-terminal.js'

const names = declarations.map(({ name }) => name)

const whyNo = (shell: string) =>
  spawnSync(shell, ['-c', 'true']).status === 0 ? undefined : `${shell} was not found: install it`

/** The completion script of a shell, in a file. */
async function scriptOf(shell: string): Promise<string> {
  const { code, output } = await new TestTerminal().run(`completion ${shell}`)
  expect(code).toBe(0)
  const file = join(temporaryFolder(), '_leasehold')
  writeFileSync(file, output)
  return file
}

function outputOf(shell: string, args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(shell, args, { encoding: 'utf8', timeout: 60_000 })
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  return stdout
}

describeUnless(whyNo('bash'), 'in bash', () => {
  /** The completions of the last of these words. */
  async function completed(...words: string[]): Promise<string[]> {
    const script = `
      source ${await scriptOf('bash')}
      complete -p leasehold >/dev/null || exit 1
      COMP_WORDS=(leasehold "$@"); COMP_CWORD=$#
      _leasehold
      printf '%s\\n' "\${COMPREPLY[@]}"`
    return outputOf('bash', ['--norc', '-c', script, 'bash', ...words])
      .trim()
      .split('\n')
  }

  it('a command is completed', async () => {
    expect(await completed('')).toEqual([...names, '--help', '--version'])
    expect(await completed('re')).toEqual(['release'])
    expect(await completed('--output', 'json', 'bre')).toEqual(['break'])
    // bash parts a word at a colon.
    expect(await completed('--store', 'redis', ':', '//db', 'bre')).toEqual(['break'])
  })

  it('an option of the command is completed', async () => {
    expect(await completed('break', '--')).toEqual([
      '--period',
      '--reason',
      '--yes',
      '--store',
      '--config',
      '--path',
      '--timeout',
      '--output',
      '--help',
    ])
    expect(await completed('break', 'job', '--per')).toEqual(['--period'])
  })

  it('the value of an option is completed: words, stores and files', async () => {
    expect(await completed('list', '--output', '')).toEqual(['table', 'json'])
    expect(await completed('list', '-o', 'j')).toEqual(['json'])
    expect(await completed('list', '--store', 're')).toEqual(['redis://', 'rediss://'])
    expect(await completed('list', '--config', '/etc/host')).toContain('/etc/hosts')
    expect(await completed('list', '--path', '')).toEqual([''])
  })

  it('an operand is completed, where it is one of some words', async () => {
    expect(await completed('completion', 'f')).toEqual(['fish'])
  })
})

describeUnless(whyNo('zsh'), 'in zsh', () => {
  it('the script is loaded, and names every command', async () => {
    const script = await scriptOf('zsh')
    const loaded = `autoload -Uz compinit; compinit -u -d ${script}.dump; source ${script}; print -r -- $_comps[leasehold]; functions _leasehold`
    const output = outputOf('zsh', ['-f', '-c', loaded])
    expect(output).toMatch(/^_leasehold\n/)
    for (const name of names) expect(output).toMatch(new RegExp(`\\(${name}\\)\\s+_arguments`))
  })

  it('a command, an option and a value are completed', async () => {
    const script = await scriptOf('zsh')
    /** Types in an interactive zsh in a pseudo-terminal, then Tab; waits until the rest of the word appears. */
    const completed = (line: string, rest: string) =>
      outputOf('zsh', [
        '-f',
        '-c',
        `zmodload zsh/zpty; zpty -b z 'TERM=dumb PS1="" zsh -f -i'
        zpty -w z 'autoload -Uz compinit; compinit -u -d ${script}.dump; source ${script}; PROMPT=READY'
        zpty -r -m z out '*READY*READY*'
        zpty -w -n z "${line}"$'\\t'
        zpty -r -m z out '*${rest}*' && print -rn -- found; zpty -d z`,
      ])
    expect(completed('leasehold dura', 'tions')).toBe('found')
    expect(completed('leasehold break job --per', 'iod')).toBe('found')
    expect(completed('leasehold list --output js', 'js*on')).toBe('found')
  })
})

describeUnless(whyNo('fish'), 'in fish', () => {
  /** The completions of a line, without their descriptions. */
  async function completed(line: string): Promise<string[]> {
    const script = await scriptOf('fish')
    const output = outputOf('fish', ['--no-config', '-c', `source ${script}; complete -C '${line}'`])
    return output
      .trim()
      .split('\n')
      .map((row) => row.split('\t')[0] ?? '')
  }

  it('a command is completed', async () => {
    expect((await completed('leasehold ')).sort()).toEqual([...names].sort())
    expect(await completed('leasehold rel')).toEqual(['release'])
  })

  it('an option, its value and an operand are completed', async () => {
    expect(await completed('leasehold break --per')).toEqual(['--period'])
    expect((await completed('leasehold list --output ')).sort()).toEqual(['json', 'table'])
    expect((await completed('leasehold list --store re')).sort()).toEqual(['redis://', 'rediss://'])
    expect(await completed('leasehold completion ba')).toEqual(['bash'])
  })
})
