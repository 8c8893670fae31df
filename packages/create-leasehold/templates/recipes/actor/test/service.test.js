// @ts-check
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createFleet, heartbeatTimeout } from '../testing/fleet.js'

it('the actor moves to another process soon after its process was killed', async (test) => {
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
})

it('the actor moves at once when its process stops', async (test) => {
  const { time, saved, start } = createFleet(test)
  const anna = start('anna')
  await time.advance(3_000)
  start('berta')
  await time.advance(1_000)
  await Promise.all([anna.stop(), time.advance(2_000)])
  assert.equal(saved.at(-1)?.owner, 'berta')
})
