/** Hunts for a deliberate bug of `Schedule`; bundled with it. */
import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { scheduleLaws } from '../laws/schedule.js'
import { hunt, onEach } from '../support/hunt.js'
import { scenario } from './scenario.js'
import { schedule } from './subject.js'

await hunt({
  laws: scheduleLaws,
  subjects: onEach([memorySubject, casSubject], schedule),
  scenario,
})
