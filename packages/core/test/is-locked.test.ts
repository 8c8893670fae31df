import { isLocked } from '@leasehold/core'
import { expect, it } from 'vitest'

it.each([
  ['leased', true],
  ['breaking', true],
  ['available', false],
  ['expired', false],
  ['broken', false],
] as const)('a name that is %s: locked is %s', (state, locked) => {
  expect(isLocked({ state })).toBe(locked)
})

it('a name without a record is not locked', () => {
  expect(isLocked(undefined)).toBe(false)
})
