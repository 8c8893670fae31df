// @ts-check
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createFleet, heartbeatTimeout } from '../testing/fleet.js'

it('another process leads soon after the leader was killed, with a larger token', async (test) => {
  const { time, saved, start } = createFleet(test)
  const anna = start('anna')
  await time.advance(3_000)
  start('berta')
  await time.advance(3_000)
  assert.deepEqual([...new Set(saved.map(({ owner }) => owner))], ['anna'])

  anna.kill()
  await time.advance(2 * heartbeatTimeout)
  const last = saved.at(-1)
  assert.equal(last?.owner, 'berta')
  assert.ok(last.fencingToken > (saved[0]?.fencingToken ?? 0n))

  // Anna was not dead, only stopped. She writes nothing any more: she has lost her lease, and her token is too small.
  const count = saved.filter(({ owner }) => owner === 'anna').length
  anna.wake()
  await time.advance(5_000)
  assert.equal(saved.filter(({ owner }) => owner === 'anna').length, count)
})

it('a leader that stops passes the leadership on at once', async (test) => {
  const { time, saved, start } = createFleet(test)
  const anna = start('anna')
  await time.advance(3_000)
  start('berta')
  await time.advance(1_000)
  await Promise.all([anna.stop(), time.advance(1_000)])
  assert.equal(saved.at(-1)?.owner, 'berta')
})
