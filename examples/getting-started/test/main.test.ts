import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('the snippets of the guide print these lines', () => {
  const { status, lines, stderr } = runExample('getting-started')
  expect(stderr).toBe('')
  expect(lines).toEqual([
    'held for at least 59 s',
    'my turn',
    'my turn, in plain JavaScript',
    'continue at line 1500',
    'held by anna',
    'import is leased',
    'import is held by anna',
    'import is free in 0 ms',
    'converting for at least 297 s',
    'stopped: broken',
    'session renewed: true',
    'nightly job: broken',
    'urgent job: true',
    'imported',
  ])
  expect(status).toBe(0)
})
