import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('a lease over a port is held by one, and passes on', () => {
  const { status, lines, stderr } = runExample('custom-lease')
  expect(stderr).toBe('')
  expect(lines).toEqual(['first: true, second: false', 'after the release, second: true, first holds: false'])
  expect(status).toBe(0)
})
