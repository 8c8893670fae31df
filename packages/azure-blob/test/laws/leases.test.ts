import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws } from '@leasehold/testkit/vitest'
import { afterAll } from 'vitest'
import { Azurite } from '../support/azurite.js'
import { blobsOn } from '../support/subjects.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

describeLeaseLaws(leasesOver(blobsOn(azurite)))
