import { describe, expect, it } from 'vitest'
import { declareCommand } from '../src/command-declaration.js'
import { asksForHelp, parseInvocation, splitCommandLine } from '../src/command-line.js'
import { UsageError } from '../src/usage-error.js'
import { TestTerminal } from './support/test-terminal.js'

const make = declareCommand({
  name: 'make',
  summary: 'Make things',
  operands: [
    { name: 'NAME', description: 'A name' },
    { name: 'MORE', description: 'Others', optional: true, repeated: true },
  ],
  takesCommand: true,
  options: {
    quick: { type: 'switch', short: 'q', description: 'Quickly' },
    wait: { type: 'duration', short: 'w', description: 'Wait' },
    text: { type: 'text', value: 'TEXT', description: 'A text' },
    count: { type: 'count', value: 'COUNT', description: 'A count' },
    cost: { type: 'number', value: 'COST', description: 'A cost' },
    colour: { type: 'choice', words: ['red', 'blue'], description: 'A colour' },
  },
  examples: [],
})

const parse = (line: string) => parseInvocation(make, line.split(' '))

describe('a command line', () => {
  it('has operands, options in any place, and a command of another program after --', () => {
    expect(parse('one -q --wait 1.5s two --text=a=b --colour blue --count 3 --cost 0.5 -- ls -l --wait x --')).toEqual({
      operands: ['one', 'two'],
      options: { quick: true, wait: 1_500, text: 'a=b', colour: 'blue', count: 3, cost: 0.5 },
      command: ['ls', '-l', '--wait', 'x', '--'],
    })
    expect(parse('one -w infinite').options).toEqual({ wait: Number.POSITIVE_INFINITY })
    expect(parse('one --text=--quick').options).toEqual({ text: '--quick' })
  })

  it.each([
    ['one --quikc', "'leasehold make' has no option --quikc: did you mean --quick?"],
    ['one --wiat', 'did you mean --wait?'],
    ['one --nothing-like-it', 'see leasehold make --help'],
    ['one --toString', 'has no option --toString'],
    ['one -x', "'leasehold make' has no option -x"],
    ['one --wait', '--wait needs a value: --wait DURATION'],
    ['one --text --quick', '--text needs a value: --text TEXT'],
    ['one --wait soon', "--wait must be a duration such as 10s, 500ms or infinite, not 'soon'"],
    ['one --count 1.5', "--count must be a positive whole number, not '1.5'"],
    ['one --cost -1', '--cost needs a value'],
    ['one --cost=-1', "--cost must be a number, not '-1'"],
    ['one --colour green', "--colour must be red or blue, not 'green'"],
    ['one --quick=no', "--quick takes no value: remove 'no'"],
    ['--quick', "'leasehold make' needs NAME: A name"],
  ])('%s is an error', (line, message) => {
    expect(() => parse(line)).toThrow(UsageError)
    expect(() => parse(line)).toThrow(message)
  })

  it('may have options of every command before the command', () => {
    expect(splitCommandLine(['--store', 'memory:', '-c', 'x.conf', 'list', 'a'])).toEqual({
      command: 'list',
      words: ['--store', 'memory:', '-c', 'x.conf', 'a'],
    })
    expect(splitCommandLine(['--store=memory:', 'list']).command).toBe('list')
    expect(splitCommandLine(['--help']).command).toBeUndefined()
  })

  it('asks for help, but not with a word after --', () => {
    expect(asksForHelp(['a', '-h'])).toBe(true)
    expect(asksForHelp(['a', '--', 'ls', '--help'])).toBe(false)
  })
})

describe('leasehold', () => {
  it.each([
    ['', 64, /^usage: leasehold COMMAND/],
    ['stats', 64, /^leasehold: there is no command 'stats': did you mean 'status'\?\n$/],
    ['frobnicate', 64, /see leasehold --help/],
    ['status', 64, /'leasehold status' needs NAME/],
    ['list a b', 64, /'leasehold list' has no use for 'b'/],
    ['list --stroe memory:', 64, /has no option --stroe: did you mean --store\?/],
    ['list --store rediss//x', 64, /there is no store 'rediss\/\/x'/],
    ['list --store reddis://x', 64, /there is no store 'reddis': did you mean redis:\?/],
    ['list --store memory: --config x.conf', 64, /--store and --config exclude each other/],
    ['list --path a.b', 64, /add --config FILE/],
    ['list --config absent.conf', 78, /absent.conf does not exist/],
    ['completion tcsh', 64, /takes bash, zsh, fish/],
  ])('%j ends with code %i', async (line, code, message) => {
    const ended = await new TestTerminal().run(line)
    expect(ended).toMatchObject({ code, output: '' })
    expect(ended.errors).toMatch(message)
  })

  it('shows no password of a URL that it does not understand', async () => {
    const { errors } = await new TestTerminal().run('list --store redsi://me:hunter2@host')
    expect(errors).toContain('did you mean redis:?')
    expect(errors).not.toContain('hunter2')
  })

  it('prints its version', async () => {
    expect(await new TestTerminal().run('--version')).toMatchObject({ code: 0, output: '0.1.0\n' })
  })
})
