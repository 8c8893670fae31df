import type { LeaseStore } from '@leasehold/core'
import { viewOf } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'

/** The compiler reports a property of a store that is missing here. */
const all: Readonly<Record<keyof LeaseStore, 'value' | 'required' | 'optional'>> = {
  limits: 'value',
  kind: 'value',
  closed: 'value',
  acquire: 'required',
  renew: 'required',
  release: 'required',
  read: 'required',
  close: 'required',
  update: 'optional',
  raiseToken: 'optional',
  list: 'optional',
  change: 'optional',
  break: 'optional',
  withdraw: 'optional',
  watch: 'optional',
  watchGrant: 'optional',
  renewMany: 'optional',
  probe: 'optional',
}
const methods = (Object.keys(all) as (keyof LeaseStore)[]).filter((name) => all[name] !== 'value')
const optional = methods.filter((name) => all[name] === 'optional')

/** Its methods return what they were called on, and their arguments. */
class EchoStore {
  readonly limits = { minTtl: 1, maxTtl: 2, infinite: false, ordered: false }
  readonly kind = 'echo'
  readonly closed = new AbortController().signal

  constructor(names: readonly (keyof LeaseStore)[]) {
    for (const name of names) {
      Object.defineProperty(this, name, {
        value(this: unknown, ...args: unknown[]) {
          return [this, ...args]
        },
      })
    }
  }
}

/** A store as JavaScript sees it. */
function echoStore(names: readonly (keyof LeaseStore)[] = methods): LeaseStore {
  return new EchoStore(names) as unknown as LeaseStore
}

describe('a view of a store', () => {
  it.each(methods)('passes %s on to the store', (name) => {
    const store = echoStore()
    const view = viewOf(store, {}) as unknown as Record<string, (...args: unknown[]) => unknown>
    expect(view[name]?.('first', 'second')).toEqual([store, 'first', 'second'])
  })

  it('has the limits, the kind and the signal of the store', () => {
    const { limits, kind, closed } = echoStore()
    expect(viewOf({ ...echoStore(), limits, kind: kind ?? '', closed: closed as AbortSignal }, {})).toMatchObject({
      ...{ limits, kind, closed },
    })
  })

  it.each(optional)('has no %s if the store has none, though it is overridden', (name) => {
    const store = echoStore(methods.filter((method) => method !== name))
    expect(viewOf(store, { [name]: () => () => {} })).not.toHaveProperty(name)
  })

  it('overrides a method by means of that of the store', () => {
    const store = echoStore()
    const view = viewOf(store, { read: (read) => (name, call) => read(`my ${name}`, call) })
    expect(view.read('job', {} as never)).toEqual([store, 'my job', {}])
  })

  it('leaves a method out', () => {
    expect(viewOf(echoStore(), { renewMany: () => undefined })).not.toHaveProperty('renewMany')
  })
})
