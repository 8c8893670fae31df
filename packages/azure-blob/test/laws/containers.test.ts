import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll } from 'vitest'
import { Azurite } from '../support/azurite.js'
import { containersOn } from '../support/subjects.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

describeStoreLaws(containersOn(azurite))
