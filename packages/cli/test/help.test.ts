import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { exitCodeTexts, manPage } from '../../../tools/docs/man-page.js'
import { parseInvocation, splitCommandLine } from '../src/command-line.js'
import { declarations } from '../src/commands.js'
import { exitCodes } from '../src/exit-codes.js'
import { storeKinds } from '../src/store-kinds.js'
import { TestTerminal } from './support/test-terminal.js'

describe('--help', () => {
  it.each(['', ...declarations.map(({ name }) => name)])(
    'of %j fits on a screen of 24 lines of 80 characters',
    async (name) => {
      const { code, output, errors } = await new TestTerminal().run(`${name} --help`)
      expect({ code, errors }).toEqual({ code: 0, errors: '' })
      const lines = output.trimEnd().split('\n')
      expect(lines.length).toBeLessThan(24)
      expect(lines.filter((line) => line.length > 80)).toEqual([])
    },
  )

  it('lists every command and every store, and has the options of each', async () => {
    const { output } = await new TestTerminal().run('--help')
    for (const { name, summary, isRare } of declarations) {
      expect(output).toMatch(new RegExp(isRare === true ? `leasehold ${name}\\b` : `\\n  ${name} +${summary}\\n`))
    }
    for (const { schemes } of storeKinds) expect(output).toMatch(new RegExp(`[ \\n]${schemes[0]}:`))
    for (const { name, options } of declarations) {
      const help = await new TestTerminal().run(`${name} -h`)
      for (const option of Object.keys(options)) expect(help.output).toContain(`--${option}`)
    }
  })
})

describe.each(declarations)('the declaration of $name', (declaration) => {
  it('has examples that are valid', () => {
    expect(declaration.examples.length).toBeGreaterThan(0)
    for (const { line } of declaration.examples) {
      const [, call = ''] = /leasehold ([^|>)]*)/.exec(line) ?? []
      const words = [...call.trim().matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word)
      const { command, words: others } = splitCommandLine(words)
      expect(command).toBe(declaration.name)
      expect(() => parseInvocation(declaration, others)).not.toThrow()
    }
  })

  it('uses each short name once', () => {
    const shorts = ['h', ...Object.values(declaration.options).flatMap(({ short }) => short ?? [])]
    expect(new Set(shorts).size).toBe(shorts.length)
  })
})

describe('exit codes', () => {
  const codes = Object.values(exitCodes)

  it('keep away from those of shells: 126 and 127, and 128 and above', () => {
    expect(codes.every((code) => code < 126)).toBe(true)
    expect(new Set(codes).size).toBe(codes.length)
  })

  it('are in the guide', () => {
    const guide = readFileSync(new URL('../../../docs/reference/cli.md', import.meta.url), 'utf8')
    for (const [name, code] of Object.entries(exitCodes)) {
      expect(guide).toContain(`| ${code} | ${exitCodeTexts[name as keyof typeof exitCodes]}`)
    }
  })
})

it('the man page is up to date', () => {
  const { path, text } = manPage()
  expect(readFileSync(path, 'utf8'), 'run "npm run docs:update"').toBe(text)
  for (const { name } of declarations) expect(text).toContain(`.SS leasehold ${name}`)
})
