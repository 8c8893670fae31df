import diagnosticsChannel from 'node:diagnostics_channel'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Fleet } from './support/fleet.js'
import { handling, ledger } from './support/ledger.js'

/** What is published on the channels from now on. */
function listen(...names: readonly string[]): unknown[] {
  const told: unknown[] = []
  for (const name of names) {
    const listener = (message: unknown): void => void told.push(message)
    diagnosticsChannel.subscribe(`leasehold:${name}`, listener)
    onTestFinished(() => void diagnosticsChannel.unsubscribe(`leasehold:${name}`, listener))
  }
  return told
}

const of = { region: 'accounts', owner: 'one' }

describe('a region', () => {
  it('tells of the shards that it takes, hands over and loses', async () => {
    const told = listen('shard')
    const fleet = new Fleet({ entity: ledger() })
    const one = await fleet.join('one')
    one.grant(0)
    one.grant(1)
    await fleet.until(one.drain(0))
    one.lose(1)
    await fleet.advance(10)
    expect(told).toEqual([
      { ...of, shard: 0, state: 'taken' },
      { ...of, shard: 1, state: 'taken' },
      { ...of, shard: 0, state: 'handed-over' },
      { ...of, shard: 1, state: 'lost' },
    ])
  })

  it('tells what became of each message, once', async () => {
    const told = listen('delivery')
    const fleet = new Fleet({ entity: handling(({ type, reply }) => type === 'ask' && reply?.(7)), holdFor: 1_000 })
    const one = await fleet.join('one')
    await fleet.until(one.core.tell('a', { type: 'early' }))
    one.grant(0)
    await one.core.tell('a', { type: 'x' })
    await fleet.until(one.core.tell('a', { type: 'x' }, { deliver: 'at-least-once' }))
    await fleet.until(one.core.ask('a', { type: 'ask' }))
    await fleet.until(one.core.ask('a', { type: 'silent' }, { timeout: 50 }).catch(() => {}))
    await fleet.until(one.core.close(0))
    await one.core.tell('a', { type: 'late' })
    await one.core.ask('a', { type: 'late' }).catch(() => {})
    expect(told).toEqual([
      { ...of, operation: 'tell', outcome: 'not-delivered' },
      { ...of, operation: 'tell', outcome: 'delivered' },
      { ...of, operation: 'tell', outcome: 'delivered' },
      { ...of, operation: 'ask', outcome: 'delivered' },
      { ...of, operation: 'ask', outcome: 'unknown' },
      { ...of, operation: 'tell', outcome: 'not-delivered' },
      { ...of, operation: 'ask', outcome: 'not-delivered' },
    ])
  })

  it('tells how many entities it has, and how many messages wait', async () => {
    const told = listen('region')
    const fleet = new Fleet({ entity: ledger(), shards: 2 })
    const one = await fleet.join('one')
    one.grant(0)
    one.grant(1)
    await Promise.all(['a', 'b', 'c'].map((id) => one.core.tell(id, { type: 'add', entry: '1' })))
    one.core.publish()
    await fleet.until(one.core.close(0))
    expect(told).toEqual([
      { ...of, entities: 3, waiting: 0 },
      { ...of, entities: 0, waiting: 0 },
    ])
  })
})
