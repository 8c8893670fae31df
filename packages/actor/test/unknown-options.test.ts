import { LeaseProvider } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { type LeaseGuardedOptions, leaseGuarded } from '../src/index.js'
import { Recorder } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

const { worker } = new Recorder()
const reference = { provider: new LeaseProvider({}), name: 'job', configPath: 'job' }
const drain = { event: { type: 'finish' }, stopTimeout: 1_000 }

function guarded(options: object): unknown {
  return leaseGuarded(worker, { lease: new ScriptedLease(), ...options } as LeaseGuardedOptions<typeof worker>)
}

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['leaseGuarded', 'retryIntervall', 'retryInterval', (o: object) => guarded(o)],
    ['leaseGuarded', 'onLeaselost', 'onLeaseLost', (o: object) => guarded(o)],
    ['stash', 'capcity', 'capacity', (o: object) => guarded({ stash: o })],
    ['drain', 'StopTimeout', 'stopTimeout', (o: object) => guarded({ drain: { ...drain, ...o } })],
    ['lease', 'ownr', 'owner', (o: object) => guarded({ lease: { ...reference, ...o } })],
  ])('%s: %s, meant is %s', (of, option, meant, use) => {
    const call = (): unknown => use({ [option]: 1 })
    expect(call).toThrow(
      expect.objectContaining({
        name: 'LeaseConfigurationError',
        message: `${of} has no option '${option}': did you mean '${meant}'?`,
      }),
    )
  })
})
