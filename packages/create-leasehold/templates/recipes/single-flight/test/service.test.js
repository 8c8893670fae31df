// @ts-check
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createFleet, heartbeatTimeout } from '../testing/fleet.js'

it('one process loads each version, for all of them', async (test) => {
  const { time, saved, start } = createFleet(test)
  for (const owner of ['anna', 'berta', 'carla']) start(owner)
  await time.advance(60_000)
  const versions = saved.map(({ text }) => text)
  assert.deepEqual(
    versions,
    versions.map((_, place) => `version ${place + 1}`),
  )
  assert.ok(versions.length >= 8, `${versions.length} versions in a minute`)
})

it('another process loads new values after one was killed', async (test) => {
  const { time, saved, start } = createFleet(test)
  const anna = start('anna')
  await time.advance(10_000)
  start('berta')
  anna.kill()
  await time.advance(2 * heartbeatTimeout + 20_000)
  assert.equal(saved.at(-1)?.owner, 'berta')
})
