import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('a container is migrated once by several instances, though the first is killed in the middle', {
  timeout: 240_000,
}, () => {
  expect(runExample('container-migration')).toEqual({
    status: 0,
    lines: [
      'anna migrates, and is at person-3.json',
      'carla does not wait: skipped',
      'anna is killed',
      'berta waited, and went on after person-2.json: person-3.json, person-4.json, person-5.json, person-6.json',
      'doris comes later: done-before',
      'all 6 blobs were migrated once',
    ],
    stderr: '',
  })
})
