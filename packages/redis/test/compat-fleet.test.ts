import { temporaryFolder } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { expect, it } from 'vitest'
import { replaceProcesses } from './support/rolling-deployment.js'
import { Scene } from './support/scene.js'

const ROUNDS = 10

describeRedis('five processes of redlock that are replaced one by one, with kills', () => {
  it(`never hold with a new one, in ${ROUNDS} deployments`, { timeout: 600_000 }, async (test) => {
    await Scene.play(async (scene) => {
      const { port } = await scene.server()
      const folder = temporaryFolder(test)
      for (let round = 1; round <= ROUNDS; round += 1) {
        const { violations } = await replaceProcesses(folder, { port, library: 'redlock', name: `orders-${round}` })
        expect(violations).toEqual([])
      }
    })
  })
})
