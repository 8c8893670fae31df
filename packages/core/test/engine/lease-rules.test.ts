import { LeaseSettings } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { rulesOf } from '../../src/engine/lease-rules.js'
import { ScriptedStore } from '../support/scripted-store.js'

describe('the rules of a lease', () => {
  it('are its settings and the abilities of its store', () => {
    const settings = new LeaseSettings({ name: 'job', owner: 'me', maxHold: 77 })
    const { heartbeatTimeout: ttl, heartbeatInterval, operationTimeout } = settings.timeouts
    const store = new ScriptedStore()
    const told = {
      name: 'job',
      owner: 'me',
      kind: 'scripted',
      ttl,
      heartbeatInterval,
      operationTimeout,
      maxHold: 77,
      manual: false,
    }
    expect(rulesOf(settings, store)).toEqual({ ...told, watched: false, ordered: false })
    const limits = { ...store.limits, ordered: true }
    const watched = Object.assign(store, { kind: undefined, limits, watch: () => [] })
    expect(rulesOf(settings, watched as never)).toEqual({ ...told, kind: 'custom', watched: true, ordered: true })
  })
})
