/** Hunts for a deliberate bug of `Semaphore`; bundled with it. */
import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { semaphoreLaws } from '../laws/semaphore.js'
import { hunt, onEach } from '../support/hunt.js'
import { scenario } from './scenario.js'
import { semaphore } from './subject.js'

await hunt({ laws: semaphoreLaws, subjects: onEach([memorySubject, casSubject], semaphore), scenario })
