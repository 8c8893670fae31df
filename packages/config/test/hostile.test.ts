import {
  Config,
  ConfigError,
  ConfigIncludeError,
  ConfigLimitError,
  ConfigOptionError,
  parseHocon,
} from '@leasehold/config'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

function read(text: string): Record<string, unknown> {
  return parseHocon(text, { env: {}, readInclude: () => [] }).toObject()
}

/** `a0 = first`, and `count` more keys, each made from the previous one. */
function tower(first: string, count: number, next: (before: string) => string, order: 1 | -1 = 1): string {
  const floors = Array.from({ length: count }, (_, floor) => `a${floor + 1} = ${next(`\${a${floor}}`)}`)
  const all = [`a0 = ${first}`, ...floors]
  return (order === 1 ? all : all.reverse()).join('\n')
}

function included(text: string): { readInclude: () => [{ id: string; text: string; format: 'conf' }] } {
  return { readInclude: () => [{ id: 'included', text, format: 'conf' }] }
}

describe('hostile input', () => {
  it.each([
    ['100,000 brackets', `a = ${'['.repeat(100_000)}`],
    ['100,000 braces', 'a {'.repeat(100_000)],
    ['a path of 100,000 elements', `a${'.a'.repeat(100_000)} = 1`],
    ['a chain of 100,000 substitutions', Array.from({ length: 100_000 }, (_, n) => `a${n} = \${a${n + 1}}`).join('\n')],
    ['a billion laughs, in lists', tower('[lol]', 40, (a) => `[${a}, ${a}, ${a}]`)],
    ['a billion laughs, in concatenated lists', tower('[lol]', 60, (a) => `${a} ${a}`)],
    ['a billion laughs, in concatenated lists, the last one first', tower('[lol]', 60, (a) => `${a} ${a}`, -1)],
    ['a billion laughs, in strings', tower('lol', 60, (a) => a + a)],
    ['a billion laughs, in objects', tower('{ x = lol }', 60, (a) => `{ x = ${a}, y = ${a} }`)],
    ['a text of 17 million characters', `a = "${'x'.repeat(17_000_000)}"`],
  ])('%s: a limit error', (_, text) => {
    expect(() => read(text)).toThrow(ConfigLimitError)
    // Found by a counter, not by a stack overflow or a lack of memory.
    expect(() => read(text)).toThrow(/maxDepth|maxValues|maxLength/)
  })

  it('the depth of paths from properties and includes is limited too', () => {
    const deep = `a${'.a'.repeat(1_000)}`
    expect(() => parseHocon(`${deep} = 1`, { format: 'properties', env: {} }).toObject()).toThrow('maxDepth')
    expect(() =>
      parseHocon('a { include "p" }', { ...included(`${'a.'.repeat(199)}a = 1`), env: {} }).toObject(),
    ).toThrow('maxDepth')
  })

  it('a long chain of appends does not exceed the limits', () => {
    expect(read('a += 1\n'.repeat(50_000)).a).toHaveLength(50_000)
    expect(read(`a = x\n${'a = ${a}x\n'.repeat(20_000)}`).a).toHaveLength(20_001)
  })

  it('include cycles and too many includes: an error', () => {
    const texts = (bodies: Record<string, string>) => ({
      env: {},
      readInclude: ({ name }: { name: string }) => [{ id: name, text: bodies[name] ?? '', format: 'conf' as const }],
    })
    expect(() => parseHocon('include "a"', texts({ a: '\ninclude "b"', b: 'include "a"' }))).toThrow(ConfigIncludeError)
    expect(() => parseHocon('include "a"', texts({ a: '\ninclude "b"', b: 'include "a"' }))).toThrow(
      'b:1:1: the includes form a cycle: text includes a includes b includes a',
    )
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`f${n}`, `include "f${n + 1}"\ninclude "f${n + 1}"`]),
    )
    expect(() => parseHocon('include "f0"', texts(doubling))).toThrow(ConfigLimitError)
  })

  it('keys that JavaScript objects inherit are ordinary keys', () => {
    const plain = read('__proto__.polluted = 1, constructor.prototype.x = 2, a = ${?toString}, b = ${?__proto__.x}')
    expect(Object.keys(plain)).toEqual(['__proto__', 'constructor'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(Config.from({}).has('toString')).toBe(false)
    expect(Config.from({}).has('__proto__.toString')).toBe(false)
    expect(Config.from(JSON.parse('{"__proto__":{"x":1}}')).getNumber('__proto__.x')).toBe(1)
  })

  it('limits are options, and invalid limits are rejected', () => {
    const limited = (limits: object) => () => parseHocon('a = [[1, 2, 3]]', { limits }).toObject()
    expect(limited({ maxDepth: 1 })).toThrow('maxDepth')
    expect(limited({ maxValues: 4 })).toThrow('maxValues')
    expect(limited({ maxLength: 10 })).toThrow('maxLength')
    expect(limited({ maxDepth: 4, maxValues: 6, maxLength: 15 })).not.toThrow()
    for (const bad of [{ maxDepth: 0 }, { maxDepth: 100_000 }, { maxValues: 1.5 }, { maxLength: '5' }]) {
      expect(limited(bad)).toThrow(ConfigOptionError)
    }
  })
})

/** For any input: returns, or throws an error of this package. */
function behaves(text: string): boolean {
  try {
    return typeof read(text) === 'object'
  } catch (error) {
    if (error instanceof ConfigError) return true
    throw error
  }
}

const words = [
  'a',
  'b.c',
  '"q"',
  '"""t"""',
  '=',
  ':',
  '+=',
  '{',
  '}',
  '[',
  ']',
  ',',
  '\n',
  ' ',
  '#c\n',
  '//',
  '${a}',
  '${?b.c}',
]
const scraps = [
  '${',
  '$',
  '\\',
  '\t',
  'true',
  'null',
  'include ',
  '"',
  '`',
  '1e+3',
  '-',
  '.5',
  '\ufeff',
  '\u2028',
  '\ud800',
  '()',
  '"\\u00',
]

const key = fc.constantFrom('a', 'b', 'c', 'a.b', 'b.c', '__proto__', '"x y"')
const reference = fc.tuple(fc.constantFrom('', '?'), key).map(([mark, path]) => `\${${mark}${path}}`)
const scalar = fc.constantFrom('1', 'text', 'null', 'true', '"q"', '5 s')
const { value: expression } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    reference,
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map(fieldsIn),
    fc.tuple(reference, tie('value')).map((parts) => parts.join(' ')),
    fc.tuple(tie('value'), reference).map((parts) => parts.join('')),
  ),
}))
const structured = fc
  .array(fc.tuple(key, fc.constantFrom(' = ', ' += ', ' : '), expression), { maxLength: 6 })
  .map((fields) => fields.map((field) => field.join('')).join('\n'))

function fieldsIn(fields: readonly (readonly [string, string])[]): string {
  return `{ ${fields.map(([name, text]) => `${name} = ${text}`).join(', ')} }`
}

describe('any input returns a configuration or throws a ConfigError', () => {
  const runs = (numRuns: number) => ({ numRuns, interruptAfterTimeLimit: 120_000, markInterruptAsFailure: true })

  it('random words', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words, ...scraps), { maxLength: 30 }), (all) => behaves(all.join(''))),
      runs(8_000),
    )
  })

  it('random documents', { timeout: 600_000 }, () => {
    fc.assert(fc.property(structured, behaves), runs(8_000))
  })

  it('mutations of valid documents', { timeout: 600_000 }, () => {
    const cut = fc.tuple(structured, fc.nat(), fc.nat({ max: 3 }), fc.constantFrom(...words, ...scraps))
    fc.assert(
      fc.property(cut, ([text, place, count, scrap]) => {
        const at = place % (text.length + 1)
        return behaves(text.slice(0, at) + scrap + text.slice(at + count))
      }),
      runs(4_000),
    )
  })
})
