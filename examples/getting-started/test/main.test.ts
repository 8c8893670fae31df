import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('the first steps do what the guide says', () => {
  const { status, lines, stderr } = runExample('getting-started')
  expect(stderr).toBe('')
  expect(lines).toEqual([
    'holding, for 59 s at least',
    'my turn',
    'stopped: broken',
    'printed by the one who holds the lease',
    'by configuration: true',
    'reported under a token of 19 digits',
  ])
  expect(status).toBe(0)
})
