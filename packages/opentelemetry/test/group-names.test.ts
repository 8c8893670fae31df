import { systemClock } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { collapsed, GroupNames } from '../src/group-names.js'
import { guard } from '../src/subscriptions.js'

describe('the group of a name', () => {
  it.each([
    ['invoice-4711', 'invoice-*'],
    ['tenant/7/import/12', 'tenant/*/import/*'],
    ['job:3f2504e0-4f89-41d3-9a0c-0305e82c3301', 'job:*'],
    ['JOB:3F2504E0-4F89-41D3-9A0C-0305E82C3301:lock', 'JOB:*:lock'],
    ['blob-9e107d9d372bb6826bd81d3542a419d6', 'blob-*'],
    ['blob-da39a3ee5e6b4b0d3255bfef95601890afd80709.part', 'blob-*.part'],
    ['v2', 'v*'],
    ['controller', 'controller'],
    // Words of the letters a to f are no hashes.
    ['deadbeef', 'deadbeef'],
    ['facade-cafe', 'facade-cafe'],
    ['', ''],
  ])('of %j is %j', (name, group) => {
    expect(collapsed(name)).toBe(group)
  })

  it('takes a name that was made to be slow', () => {
    const started = systemClock.now()
    expect(collapsed('a'.repeat(100_000))).toHaveLength(100_000)
    expect(collapsed(`${'a'.repeat(50_000)}g${'1'.repeat(50_000)}`)).toHaveLength(50_002)
    expect(systemClock.now() - started).toBeLessThan(10_000)
  })

  it('is one of a limited number', () => {
    const groups = new GroupNames((name) => name, 3, guard)
    expect(['a', 'b', 'c', 'd', 'e', 'a'].map((name) => groups.of(name))).toEqual(['a', 'b', 'c', '*', '*', 'a'])
  })

  it('is missing where the function of the user fails', () => {
    const answers: unknown[] = [undefined, null, 7, Promise.reject(new Error('late'))]
    const groups = new GroupNames(() => answers.pop() as string, 3, guard)
    expect([1, 2, 3, 4].map(() => groups.of('name'))).toEqual([undefined, undefined, undefined, undefined])
    const broken = new GroupNames(
      () => {
        throw new Error('broken')
      },
      3,
      guard,
    )
    expect(broken.of('name')).toBeUndefined()
  })
})
