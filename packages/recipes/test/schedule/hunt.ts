/** Hunts for a deliberate bug of `Schedule`; bundled with it. */
import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { scheduleLaws } from '@leasehold/testkit/recipes'
import { hunt } from '../support/hunt.js'
import { scenario } from './scenario.js'
import { scheduleOn } from './subject.js'

await hunt({ laws: scheduleLaws, subjects: [memorySubject, casSubject].map(scheduleOn), scenario })
