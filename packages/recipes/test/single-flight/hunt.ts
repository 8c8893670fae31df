/** Hunts for a deliberate bug of `SingleFlight`; bundled with it. */
import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { singleFlightLaws } from '../laws/single-flight.js'
import { hunt, onEach } from '../support/hunt.js'
import { scenario } from './scenario.js'
import { singleFlight } from './subject.js'

await hunt({ laws: singleFlightLaws, subjects: onEach([memorySubject, casSubject], singleFlight), scenario })
