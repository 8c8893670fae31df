import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('every instance answers who leads and forwards writes to the leader, also after the leader ended or was killed', () => {
  expect(runExample('leader')).toEqual({
    status: 0,
    lines: [
      'anna leads',
      'berta writes through anna',
      'anna has ended, berta leads',
      'carla writes through berta',
      'berta was killed, carla leads',
      'carla writes through carla',
      'one by anna, two by berta, three by carla',
    ],
    stderr: '',
  })
})
