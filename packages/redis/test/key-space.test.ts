import { LeaseConfigurationError, LeaseNameError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { KeySpace } from '../src/key-space.js'

/** The part that a cluster hashes: between the first brace and the next, if it is not empty. */
function tagOf(key: string): string {
  const [, tag] = /^[^{]*\{([^}]+)\}/.exec(key) ?? []
  return tag ?? key
}

describe('the key of a name', () => {
  const keys = new KeySpace('leasehold:')

  it('is the name in braces after the prefix, as an operator would look for it', () => {
    expect(keys.keyOf('orders/shard-7')).toBe('leasehold:{orders/shard-7}')
    expect(keys.keyOf('täglich um 3')).toBe('leasehold:{t%c3%a4glich%20um%203}')
  })

  it('has the whole name for its hash tag, whatever braces the name has', () => {
    for (const name of ['}', '{}', '{', 'a{b}c', '}{', 'x'.repeat(1024), 'ü'.repeat(512)]) {
      const key = keys.keyOf(name)
      expect(tagOf(key)).toBe(key.slice('leasehold:{'.length, -1))
    }
  })

  it('is shared by no two names', () => {
    const names = [
      'a',
      'A',
      'a ',
      ' a',
      '%61',
      'a%',
      'a%25',
      '{a}',
      '%7ba%7d',
      'ä',
      'a\u0308',
      'a\n',
      'a\\n',
      'a"b',
      "a'b",
    ]
    expect(new Set(names.map((name) => keys.keyOf(name))).size).toBe(names.length)
  })

  it('exists only for valid names', () => {
    expect(() => keys.keyOf('')).toThrow(LeaseNameError)
    expect(() => keys.keyOf('x'.repeat(1025))).toThrow(LeaseNameError)
    expect(() => keys.keyOf('\ud800')).toThrow(LeaseNameError)
  })

  it('is in the slot of the prefix, if that has a hash tag', () => {
    const shared = new KeySpace('app:{leases}:')
    expect(shared.keyOf('a{b}')).toBe('app:{leases}:a%7bb%7d')
    expect(tagOf(shared.keyOf('a{b}'))).toBe('leases')
  })

  it.each(['{', 'a}b{', '{}', '{a}{b}', 'a{b'])('rejects the prefix %s, which has half a tag', (prefix) => {
    expect(() => new KeySpace(prefix)).toThrow(LeaseConfigurationError)
  })

  it.each(['my app:', 'app:\n', '\tapp:'])('rejects the prefix %j, which has white space', (prefix) => {
    expect(() => new KeySpace(prefix)).toThrow(LeaseConfigurationError)
  })
})
