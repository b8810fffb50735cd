//! Sums over responses, in which unknown is not 0.

use super::Spent;
use crate::Usage;
use std::iter::Sum;
use std::ops::AddAssign;

/// A sum of numbers of which some may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Amount<T> {
    /// The sum of those that are known.
    pub known: T,
    /// How many are unknown.
    pub unknown: u64,
    /// How many are known.
    pub told: u64,
}

impl<T: AddAssign + Copy> Amount<T> {
    /// Adds a number, or that it is unknown.
    pub fn add(&mut self, number: Option<T>) {
        match number {
            Some(number) => {
                self.known += number;
                self.told += 1;
            }
            None => self.unknown += 1,
        }
    }

    fn merge(&mut self, other: Self) {
        self.known += other.known;
        self.unknown += other.unknown;
        self.told += other.told;
    }

    /// The sum, where at least one number is known.
    pub fn sum(&self) -> Option<T> {
        (self.told > 0).then_some(self.known)
    }

    /// Whether every number is known. If false, the sum is a lower bound.
    pub fn is_whole(&self) -> bool {
        self.unknown == 0
    }
}

/// The sums over responses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Responses {
    /// How many there are.
    pub count: u64,
    /// How many of them are discarded.
    pub discarded: u64,
    /// Tokens of requests, those from a cache included.
    pub input: Amount<u64>,
    /// Tokens of requests that came from a cache.
    pub cached: Amount<u64>,
    /// Tokens of responses, those of reasoning included.
    pub output: Amount<u64>,
    /// Tokens of responses that are reasoning.
    pub reasoning: Amount<u64>,
    /// US dollars.
    pub cost: Amount<f64>,
    /// US dollars of what is discarded, which `cost` includes.
    pub discarded_cost: Amount<f64>,
}

impl Responses {
    /// Adds a response.
    pub fn add(&mut self, spent: &Spent) {
        let Usage { input, cached, output, reasoning, cost, .. } = spent.usage;
        self.count += 1;
        self.input.add(input);
        self.cached.add(cached);
        self.output.add(output);
        self.reasoning.add(reasoning);
        self.cost.add(cost);
        if spent.discarded {
            self.discarded += 1;
            self.discarded_cost.add(cost);
        }
    }
}

impl AddAssign<&Responses> for Responses {
    fn add_assign(&mut self, other: &Responses) {
        self.count += other.count;
        self.discarded += other.discarded;
        self.input.merge(other.input);
        self.cached.merge(other.cached);
        self.output.merge(other.output);
        self.reasoning.merge(other.reasoning);
        self.cost.merge(other.cost);
        self.discarded_cost.merge(other.discarded_cost);
    }
}

impl<'a> Sum<&'a Spent> for Responses {
    fn sum<I: Iterator<Item = &'a Spent>>(all: I) -> Self {
        let mut sums = Responses::default();
        all.for_each(|spent| sums.add(spent));
        sums
    }
}
