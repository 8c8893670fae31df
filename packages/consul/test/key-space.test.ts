import fc from 'fast-check'
import { expect, it } from 'vitest'
import { KeySpace, pathOf } from '../src/key-space.js'

const space = new KeySpace('leasehold/')

it.for([
  ['orders', 'leasehold/orders'],
  ['deploy/.lock', 'leasehold/deploy/.lock'],
  ['a b', 'leasehold/a=20b'],
  ['a=b', 'leasehold/a=3db'],
  ['a//b', 'leasehold/a=2f=2fb'],
  ['../b', 'leasehold/=2e=2e=2fb'],
  ['/a', 'leasehold/=2fa'],
  ['é', 'leasehold/=c3=a9'],
] as const)('the key of %s is %s', ([name, key]) => {
  expect(space.keyOf(name)).toBe(key)
  expect(space.nameOf(key)).toBe(name)
})

it('every name has a key of its own, which is a clean path and leads back to the name', () => {
  const part = fc.oneof(
    fc.constantFrom('/', '.', '..', '=', '%', 'a', 'A'),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  )
  const names = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(
      names.filter((name) => name !== ''),
      (name) => {
        const key = space.keyOf(name)
        expect(space.nameOf(key)).toBe(name)
        expect(new URL(`http://agent/v1${pathOf(key)}`).pathname).toBe(`/v1${pathOf(key)}`)
      },
    ),
  )
})

it('keys of other programs are no names', () => {
  for (const key of ['other/orders', 'leasehold/', 'leasehold/a=zz', 'leasehold/a=62'])
    expect(space.nameOf(key)).toBeUndefined()
})

it.for(['/leases/', 'a//b/', '../', 'a b/'])('the prefix %s is refused', (prefix) => {
  expect(() => new KeySpace(prefix)).toThrow(/prefix must be like/)
})
