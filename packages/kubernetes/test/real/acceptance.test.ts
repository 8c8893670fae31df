import { it } from 'vitest'
import { describeReal } from '../support/describe-real.js'
import { elect } from '../support/elect.js'

describeReal((server) => {
  it('two electors come through ten idle durations, a crash and a graceful stop', { timeout: 180_000 }, async () => {
    const { port } = server()
    await elect({ port, ca: server().ca(), layout: 'lease', tokenOf: () => 'admin' }, () => () => {})
  })
})
