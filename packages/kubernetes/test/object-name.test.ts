import fc from 'fast-check'
import { expect, it } from 'vitest'
import { objectName } from '../src/object-name.js'

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

it.each(['my-controller', 'a', '9', 'kube-scheduler.v2', 'x'.repeat(253)])('%s is the name of its object', (name) => {
  expect(objectName(name)).toBe(name)
})

it.each(['Job', 'a_b', 'a..b', '-a', 'a-', 'a/b', 'заявка', 'x'.repeat(254), 'leasehold--job', ' '])(
  '%s, which no object may be called, or what looks like its stand-in, has a name that is one',
  (name) => {
    expect(objectName(name)).toMatch(SUBDOMAIN)
    expect(objectName(name)).toMatch(/^leasehold--/)
    expect(objectName(name).length).toBeLessThanOrEqual(253)
  },
)

it('two lease names never share an object', () => {
  const letters = fc.constantFrom('a', 'A', '-', '.', '_', '2', 'd', 'é', 'leasehold--', 'x'.repeat(120))
  const name = fc.array(letters, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(name, name, (one, other) => {
      expect(objectName(one)).toMatch(SUBDOMAIN)
      expect(objectName(one) === objectName(other)).toBe(one === other)
    }),
    { numRuns: 5_000 },
  )
})
