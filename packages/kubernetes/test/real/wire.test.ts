import { describeReal } from '../support/describe-real.js'
import { describeWire } from '../support/wire.js'

describeReal((server) => {
  describeWire({ port: () => server().port })
})
