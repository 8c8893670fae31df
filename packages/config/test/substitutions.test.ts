import { ConfigResolveError, ConfigSyntaxError, parseHocon } from '@leasehold/config'
import { describe, expect, it } from 'vitest'

const files: Record<string, string> = {
  'x-and-y': 'x = 10, y = ${x}, z = ${r}',
  nested: 'x = 1, sub { include "deepest" }',
  deepest: 'q = ${w}, w = 1, fromRoot = ${r}',
  appended: 'b += 1\nb = ${b} [2]',
}

function read(text: string, env = {}): unknown {
  return parseHocon(text, {
    env,
    readInclude: ({ name }) => {
      const found = files[name]
      return found === undefined ? [] : [{ id: name, text: found, format: 'conf' }]
    },
  }).toObject()
}

describe('substitutions', () => {
  it.each([
    [
      'bar { a = ${foo.d}, b = 1 }\nbar.b = 3\nfoo { c = ${bar.b}, d = 2 }\nfoo.d = 4',
      { bar: { a: 4, b: 3 }, foo: { c: 3, d: 4 } },
    ],
    ['foo { a { c = 1 } }\nfoo = ${foo.a}\nfoo { a = 2 }', { foo: { a: 2, c: 1 } }],
    ['foo = ${does-not-exist}\nfoo = 42', { foo: 42 }],
    ['x = ${y}, y = { p = ${x.q}, q = 5 }', { x: { p: 5, q: 5 }, y: { p: 5, q: 5 } }],
    ['a = ${x} { b = ${a.c} }, x { c = 3 }', { a: { b: 3, c: 3 }, x: { c: 3 } }],
    [
      'a.b.x = 1\na = ${r}\na.b.y = 2\nr { b { z = 3 }, q = 1 }',
      { a: { b: { x: 1, y: 2, z: 3 }, q: 1 }, r: { b: { z: 3 }, q: 1 } },
    ],
    ['a.b.x = 1\na = ${r}\na.b.y = 2\nr = 5', { a: { b: { y: 2 } }, r: 5 }],
    ['a = 1\nb = 2\na = ${b}\nb = ${a}', { a: 1, b: 1 }],
    ['a = ${?b} x\nb = ${?a}', { a: ' x', b: ' x' }],
    ['a = ${?b}foo\nb = ${?a}bar', { a: 'barfoo', b: 'bar' }],
    ['a = [${b}]\nb = [${?a}]', { a: [[]], b: [] }],
    ['a = [ { b += 1, b += 2 } ]', { a: [{ b: [1, 2] }] }],
    ['a.a += ${?a} [null]', { a: { a: [[null]] } }],
    ['a { x = {y = 1} }\na.x = ${a.x} { z = 2 }\na.x.y = 5', { a: { x: { y: 5, z: 2 } } }],
    ['a = { c = q, b = 2 }\na.c = ${a}', { a: { b: 2, c: { b: 2, c: 'q' } } }],
    ['b.a = 1, b = { a = ${?b} }', { b: { a: { a: 1 } } }],
    ['b.b.c = 1, b.d = 2, b.b.c = ${b}', { b: { b: { c: { b: { c: 1 }, d: 2 } }, d: 2 } }],
    ['a = { x = [0] }, a = ${a} { x = [1], x = ${a.x} [2] }', { a: { x: [1, 2] } }],
    ['a = { x = 0 }, a = ${?none} { x = 1, x = ${a.x}2 }', { a: { x: '12' } }],
    ['a = { x = [0] }, a = ${a} { x = ${a.x} [2] }', { a: { x: [0, 2] } }],
    ['b { a = [1] }, b = 5, b { a += { x = ${?b.a} } }', { b: { a: [{}] } }],
    ['b = ${?none} { a = [1], a += { x = ${b.a} } }', { b: { a: [1, { x: [1] }] } }],
    ['a = [1], a += { x = ${b} }, b = ${c}, c = [0] ${a}', { a: [1, { x: [0, 1] }], b: [0, 1], c: [0, 1] }],
    ['x = [{ y = ${?b} }], b = ${x} ${x}', { x: [{}], b: [{}, {}] }],
    ['a = null, b = ${a}x, c = ${a}', { a: null, b: 'nullx', c: null }],
  ])('of %j', (text, expected) => {
    expect(read(text)).toEqual(expected)
  })

  it('in included texts look below the include first, then from the root', () => {
    expect(read('r = 1\na { include "x-and-y" }\na.x = 42')).toEqual({ r: 1, a: { x: 42, y: 42, z: 1 } })
    expect(read('r = 2\na { b { include "nested" } }')).toEqual({
      r: 2,
      a: { b: { x: 1, sub: { q: 1, w: 1, fromRoot: 2 } } },
    })
    expect(read('a.b = [0], a { include "appended" }')).toEqual({ a: { b: [0, 1, 2] } })
  })

  it('fall back to the environment, as strings; a key that is null does not fall back', () => {
    expect(
      read('PATH = ${PATH}":/x", n = ${N}, HOME = null, h = ${HOME}', { PATH: '/bin', N: '5', HOME: '/me' }),
    ).toEqual({
      PATH: '/bin:/x',
      n: '5',
      HOME: null,
      h: null,
    })
  })

  it.each([
    ['a = 1\nb = ${nope.x}', 2, 5, '${nope.x} has no value'],
    ['a = ${b}\nb = ${c}\nc = ${a}', 3, 5, '${a} is part of a cycle'],
    ['a = 1\na = [${a}]', 2, 6, 'is part of a cycle'],
    ['a {\n  b = ${a}\n}', 2, 7, 'is part of a cycle'],
    ['a = [{ b = ${a} }]', 1, 12, 'contains itself through a cycle'],
    ['b.a = [1]\nb = ${?none}\nb.a = [{ x = ${b.a} }]', 3, 14, 'contains itself through a cycle'],
    ['x = [1]\n\na = ${x}"text"', 3, 5, 'a list and a string cannot be concatenated'],
  ])('that cannot be resolved: %j throws with position and cause', (text, line, column, message) => {
    const reading = (): unknown => read(text)
    expect(reading).toThrow(ConfigResolveError)
    expect(reading).toThrow(message)
    expect(reading).toThrow(expect.objectContaining({ line, column, source: 'text' }))
  })
})

describe('invalid HOCON', () => {
  it.each([
    ['a = [1,\n2', 2, "expected ']' before the end of the text, to close the bracket opened in line 1"],
    ['a = 1\nb = @', 2, "found '@', which is reserved: quote it"],
    ['a = b = c', 1, "expected a comma, a newline or the end of the text, found '='"],
    ['a', 1, "expected '=', ':', '+=' or '{' after a key"],
    ['a = "\\x"', 1, 'not an escape sequence of JSON'],
    ['a = "x\u0001"', 1, 'write it as \\u0001'],
    ['a = """x', 1, 'has no end'],
    ['include foo', 1, 'expected a quoted name to include'],
    ['a = $x', 1, "expected '{' after '$'"],
    ['[1]', 1, 'expected an object at the root'],
  ])('%j: the error names the expected syntax', (text, line, message) => {
    const reading = (): unknown => read(text)
    expect(reading).toThrow(ConfigSyntaxError)
    expect(reading).toThrow(message)
    expect(reading).toThrow(expect.objectContaining({ line }))
  })
})
