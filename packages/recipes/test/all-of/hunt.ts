/** Hunts for a deliberate bug of `AllOf`; bundled with it. */
import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { allOfLaws } from '../laws/all-of.js'
import { hunt, onEach } from '../support/hunt.js'
import { scenario } from './scenario.js'
import { jointUnderLaw } from './subject.js'

await hunt({ laws: allOfLaws, subjects: onEach([memorySubject, casSubject], jointUnderLaw), scenario })
