import { describe, expect, it } from 'vitest'
import { Outgoing } from '../src/outgoing.js'
import { ShardQueue } from '../src/shard-queue.js'

/** More than a function can have arguments. */
const MANY = 300_000

function messageOf(entity: string): Outgoing {
  return new Outgoing({ shard: 0, entity, event: { type: 'x' }, id: entity, giveUpAt: 10, onSettled: () => {} })
}

describe('the queue of a shard', () => {
  it('repeats any number of unconfirmed messages, in their order, before all others', () => {
    const queue = new ShardQueue(0)
    for (let place = 0; place < MANY; place += 1) queue.expectConfirmation(messageOf(String(place)), 0)
    queue.push(messageOf('last'))
    queue.enter('other', 'address')
    expect(queue.all).toHaveLength(MANY + 1)
    expect([queue.all[0], queue.all[MANY - 1], queue.all[MANY]].map((message) => message?.entity)).toEqual([
      '0',
      String(MANY - 1),
      'last',
    ])
  })

  it('gives up any number of messages whose time is over', () => {
    const queue = new ShardQueue(0)
    for (let place = 0; place < MANY; place += 1) queue.push(messageOf(String(place)))
    expect(queue.takeExpired(9)).toHaveLength(0)
    expect(queue.takeExpired(10)).toHaveLength(MANY)
    expect(queue.isEmpty).toBe(true)
  })
})
