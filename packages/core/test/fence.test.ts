import { LeaseConfigurationError, LeaseLostError } from '@leasehold/core'
import { Fence } from '@leasehold/core/store'
import { AbortListeners } from '@leasehold/core/store-kit'
import { describe, expect, it } from 'vitest'

const fence = new Fence('toy', 'file', 5n)

describe('a fence', () => {
  it.each([undefined, 4n, 5n, '4', '5'])('accepts token 5 after %s', (seen) => {
    expect(() => fence.check(seen)).not.toThrow()
  })

  it.each([6n, '6', '10'])('rejects token 5 after %s', (seen) => {
    expect(() => fence.check(seen)).toThrow("the fencing token 5 for 'file' is older than")
    expect(() => fence.check(seen)).toThrow(LeaseLostError)
  })

  it('makes the error of a token that was rejected elsewhere', () => {
    expect(fence.rejection('7')).toMatchObject({ reason: 'taken', leaseName: 'file', store: 'toy' })
  })

  it('rejects a stored text that is not a token', () => {
    expect(() => fence.check('x')).toThrow("stored with 'file' is not a number: x. Repair or remove it")
  })

  it('takes the token as text', () => {
    expect(new Fence('toy', 'file', '9007199254740993').token).toBe(2n ** 53n + 1n)
    expect(() => new Fence('toy', 'file', '1e30')).toThrow(LeaseConfigurationError)
  })

  it.each<[unknown, string]>([
    [undefined, 'not undefined'],
    ['', "not ''"],
    [{}, 'not an object'],
    [7n, 'not a bigint: the resource comes first'],
  ])('rejects %s as the resource', (resource, message) => {
    expect(() => new Fence('toy', resource as string, 5n)).toThrow(
      `resource must be a text that is not empty, ${message}`,
    )
  })

  it('rejects a signal that is not in an object, and one that is no signal', () => {
    const { signal } = new AbortController()
    expect(() => new Fence('toy', 'file', 5n, signal as object)).toThrow('must be an object such as { signal }')
    expect(() => new Fence('toy', 'file', 5n, { signal: {} as AbortSignal })).toThrow('signal must be an AbortSignal')
  })

  it('aborts the requests with the signal, and leaves no listener', async () => {
    const aborts = new AbortListeners()
    const controller = new AbortController()
    const limited = new Fence('toy', 'file', 5n, { signal: controller.signal })
    const sent = limited.send(aborts, async (call) => {
      controller.abort('enough')
      throw call.signal.reason
    })
    await expect(sent).rejects.toBe('enough')
    expect(aborts.size).toBe(0)
    expect(() => new Fence('toy', 'file', 5n, { signal: controller.signal })).toThrow('enough')
  })

  it('rejects work that goes on after it has returned', () => {
    expect(() => fence.run(async () => {})).toThrow('must be synchronous')
    expect(fence.run(() => 7)).toBe(7)
  })
})
