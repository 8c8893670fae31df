// @ts-check
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createFleet, heartbeatTimeout } from '../testing/fleet.js'

it('the work is done once, although three processes start', async (test) => {
  const { time, saved, start } = createFleet(test)
  for (const owner of ['anna', 'berta', 'carla']) start(owner)
  await time.advance(60_000)
  assert.equal(saved.filter(({ text }) => text === 'step 1').length, 1)
  assert.equal(saved.at(-1)?.text, 'step 20')
  assert.equal(new Set(saved.map(({ owner }) => owner)).size, 1)
})

it('another process does the work if the first one is killed in the middle of it', async (test) => {
  const { time, saved, start } = createFleet(test)
  const anna = start('anna')
  await time.advance(5_000)
  start('berta')
  anna.kill()
  await time.advance(2 * heartbeatTimeout + 30_000)
  assert.deepEqual({ owner: saved.at(-1)?.owner, text: saved.at(-1)?.text }, { owner: 'berta', text: 'step 20' })
})
