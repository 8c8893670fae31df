import { LeaseNameError } from '@leasehold/core'
import { checkLeaseName } from '@leasehold/core/store'
import { decodeLeaseName, encodeLeaseName, type NameAlphabet } from '@leasehold/core/store-kit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const alphabet: NameAlphabet = { allows: (character) => /[a-z0-9.]/.test(character), escape: '-', maxLength: 63 }

describe('a lease name', () => {
  it.each(['a', 'with space', 'Grüße', '任务', '🔒'.repeat(256), 'x'.repeat(1024), '\u0000', '../etc'])(
    'may be %j',
    (name) => {
      expect(() => checkLeaseName(name)).not.toThrow()
    },
  )

  it.each([
    ['', 'must not be empty'],
    ['x'.repeat(1025), 'at most 1024 bytes'],
    ['🔒'.repeat(257), 'at most 1024 bytes'],
    ['\ud83d', 'lone surrogate'],
    [undefined, 'must be a string'],
    [7, 'must be a string'],
  ])('may not be %j: %s', (name, reason) => {
    expect(() => checkLeaseName(name)).toThrow(LeaseNameError)
    expect(() => checkLeaseName(name)).toThrow(reason)
  })
})

describe('encodeLeaseName', () => {
  it('keeps characters of the alphabet and escapes the others byte by byte', () => {
    expect(encodeLeaseName('job.1', alphabet)).toBe('job.1')
    expect(encodeLeaseName('Job-1', alphabet)).toBe('-4aob-2d1')
    expect(encodeLeaseName('ü', alphabet)).toBe('-c3-bc')
  })

  it('shortens a long name and appends a hash of the whole name', () => {
    const long = encodeLeaseName(`${'x'.repeat(100)}a`, alphabet)
    expect(long.length).toBe(63)
    expect(long).not.toBe(encodeLeaseName(`${'x'.repeat(100)}b`, alphabet))
  })

  it('maps names that differ only in case, normal form or escape-like text to different results', () => {
    const names = ['a', 'A', '-41', '-', '--', 'é', 'e\u0301', 'a ', ' a', `${'x'.repeat(64)}`, `${'x'.repeat(65)}`]
    expect(new Set(names.map((name) => encodeLeaseName(name, alphabet))).size).toBe(names.length)
  })

  it('is injective and keeps to the alphabet and the length', () => {
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 80 })
    fc.assert(
      fc.property(name, name, (one, other) => {
        const encoded = encodeLeaseName(one, alphabet)
        expect(encoded).toMatch(/^[a-z0-9.-]{1,63}$/)
        expect(encoded === encodeLeaseName(other, alphabet)).toBe(one === other)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('decodeLeaseName', () => {
  it('returns the name of every key that is not shortened', () => {
    const unlimited = { ...alphabet, maxLength: Number.POSITIVE_INFINITY }
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }), (name) => {
        expect(decodeLeaseName(encodeLeaseName(name, unlimited), unlimited)).toBe(name)
      }),
    )
  })

  it.each(['UPPER', 'a-6', 'a-zz', 'a-61', '-c3', 'a%20b', encodeLeaseName('x'.repeat(100), alphabet)])(
    'returns undefined for %s, which is shortened or the key of no name',
    (key) => {
      expect(decodeLeaseName(key, alphabet)).toBeUndefined()
    },
  )
})
