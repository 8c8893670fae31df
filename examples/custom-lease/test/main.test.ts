import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('one process holds the lease on a port, and after its release another one', () => {
  const { status, lines, stderr } = runExample('custom-lease')
  expect(stderr).toBe('')
  expect(lines).toEqual(['first: true, second: false', 'after the release, second: true, first holds: false'])
  expect(status).toBe(0)
})
