// @ts-check
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createFleet } from '../testing/fleet.js'

it('runs each time of the job once, although two processes are there', async (test) => {
  const { time, saved, start } = createFleet(test)
  for (const owner of ['anna', 'berta']) start(owner)
  await time.advance(60_000)
  const reports = saved.map(({ text }) => text)
  assert.equal(new Set(reports).size, reports.length, 'a report was written twice')
  assert.ok(reports.length >= 11, `${reports.length} reports in a minute`)
})

it('the job goes on after a process was killed', async (test) => {
  const { time, saved, start } = createFleet(test)
  const anna = start('anna')
  start('berta')
  await time.advance(20_000)
  anna.kill()
  await time.advance(60_000)
  assert.equal(saved.at(-1)?.owner, 'berta')
})
