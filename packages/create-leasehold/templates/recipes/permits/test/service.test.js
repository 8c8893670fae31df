// @ts-check
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { permits } from '../src/service.js'
import { createFleet, heartbeatTimeout } from '../testing/fleet.js'

it('runs no more jobs at a time than there are permits', async (test) => {
  const { time, saved, start } = createFleet(test)
  for (const owner of ['anna', 'berta', 'carla']) start(owner)
  await time.advance(60_000)
  assert.equal(new Set(saved.map(({ key }) => key)).size, permits)
  // In each slot, a job begins only after the one before it is done.
  for (const slot of new Set(saved.map(({ key }) => key))) {
    const words = saved.filter(({ key }) => key === slot).map(({ text }) => (text.endsWith('begun') ? 'begun' : 'done'))
    assert.deepEqual(
      words,
      words.map((_, place) => (place % 2 === 0 ? 'begun' : 'done')),
    )
  }
})

it('the permits of a process that was killed come back', async (test) => {
  const { time, saved, start } = createFleet(test)
  const anna = start('anna')
  await time.advance(5_000)
  start('berta')
  anna.kill()
  await time.advance(2 * heartbeatTimeout)
  const late = saved.slice(-4)
  assert.deepEqual([...new Set(late.map(({ owner }) => owner))], ['berta'])
  assert.equal(new Set(late.map(({ key }) => key)).size, permits)
})
