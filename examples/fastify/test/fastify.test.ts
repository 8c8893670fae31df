import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('followers forward writes to the leader, also after the leader was asked to end or was killed', () => {
  expect(runExample('fastify')).toEqual({
    status: 0,
    lines: [
      'anna leads',
      'berta writes through anna',
      'berta does not lead, and answers 200 and 200',
      'anna has ended, berta leads',
      'carla writes through berta',
      'berta was killed, carla leads',
      'carla writes through carla',
      'one by anna, two by berta, three by carla',
    ],
    stderr: '',
  })
})
