import { describe, expect, it } from 'vitest'
import { LeaseConfigurationError, LeaseProvider } from '../../src/index.js'

describe('the provider of an actor system', () => {
  it('is the one that was attached to it', () => {
    const [system, other] = [{}, {}]
    const provider = new LeaseProvider({})
    expect(provider.attach(system).attach(other)).toBe(provider)
    expect(LeaseProvider.get(system)).toBe(provider)
    expect(LeaseProvider.get(other)).toBe(provider)
    expect(Object.keys(system)).toEqual([])
  })

  it('is missing before attach: the error says what to do', () => {
    new LeaseProvider({}).attach({})
    expect(() => LeaseProvider.get({})).toThrow(LeaseConfigurationError)
    expect(() => LeaseProvider.get({})).toThrow('call provider.attach(actor.system) before actor.start()')
    expect(() => LeaseProvider.get(undefined as unknown as object)).toThrow(LeaseConfigurationError)
  })

  it('stays the same: attaching it twice has no effect, and attaching another one is an error', () => {
    const system = {}
    const provider = new LeaseProvider({}).attach(system)
    provider.attach(system)
    const attachOther = (): unknown => new LeaseProvider({}).attach(system)
    expect(attachOther).toThrow(LeaseConfigurationError)
    expect(attachOther).toThrow('another LeaseProvider is attached to this actor system')
    expect(LeaseProvider.get(system)).toBe(provider)
  })

  it.each([undefined, null, 'system'])('%s cannot be a system', (system) => {
    expect(() => new LeaseProvider({}).attach(system as unknown as object)).toThrow(LeaseConfigurationError)
  })
})
