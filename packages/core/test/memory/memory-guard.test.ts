import { LeaseLostError, MemoryGuard } from '@leasehold/core'
import { describe, expect, it } from 'vitest'

describe('MemoryGuard', () => {
  it('keeps a value and a token for each resource', () => {
    const guard = new MemoryGuard<string>()
    guard.write('a', 2n, 'by 2')
    guard.write('b', 1n, 'by 1')
    expect(() => guard.write('a', 1n, 'late')).toThrow(LeaseLostError)
    expect(['a', 'b', 'c'].map((name) => guard.read(name))).toEqual(['by 2', 'by 1', undefined])
  })

  it('runs no work under an old token, and keeps the token of work that fails', () => {
    const guard = new MemoryGuard()
    const done: string[] = []
    expect(guard.transact('a', 5n, () => done.push('five'))).toBe(1)
    const failing = () => {
      throw new RangeError('mine')
    }
    expect(() => guard.transact('a', 6n, failing)).toThrow('mine')
    expect(() => guard.transact('a', 5n, () => done.push('late'))).toThrow(LeaseLostError)
    expect(done).toEqual(['five'])
  })
})
