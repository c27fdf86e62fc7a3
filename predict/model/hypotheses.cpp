// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Of parameters a, b: a + b, a b, a b + a, a b + b. Of three, all sets of at most three products in
// which each of them is. These are the forms of Extra-P 4.2, and those alike.

#include "predict/model/hypotheses.h"

#include <bit>

namespace culprit::predict {
namespace {

/// A product of some parameters, as bits; a form is a set of products.
using Product = unsigned;
using Form = std::vector<Product>;

void add_forms(unsigned wanted, Product from, Form& form, unsigned covered,
               std::vector<Form>& forms) {
  if (covered == wanted) forms.push_back(form);
  if (form.size() == static_cast<size_t>(std::popcount(wanted))) return;
  for (Product product = from; product <= wanted; ++product) {
    if ((product & ~wanted) != 0 || product == 0) continue;
    form.push_back(product);
    add_forms(wanted, product + 1, form, covered | product, forms);
    form.pop_back();
  }
}

std::vector<Form> forms_of(unsigned parameters) {
  std::vector<Form> forms;
  Form form;
  add_forms(parameters, 1, form, 0, forms);
  return forms;
}

/// `form` with shapes[p] for each parameter.
std::vector<Term> terms_of(const Form& form, std::span<const Shape> shapes) {
  std::vector<Term> terms;
  for (const Product product : form) {
    Term& term = terms.emplace_back();
    for (size_t p = 0; p < shapes.size(); ++p) {
      if ((product >> p & 1) != 0) term.push_back({p, shapes[p]});
    }
  }
  return terms;
}

/// Calls visit(shapes) for each choice of shapes for the parameters in the set.
template <class Visit>
void choose(std::span<const std::vector<Shape>> shapes_of, unsigned parameters, size_t p,
            std::vector<Shape>& chosen, const Visit& visit) {
  if (p == shapes_of.size()) return visit(chosen);
  if ((parameters >> p & 1) == 0) return choose(shapes_of, parameters, p + 1, chosen, visit);
  for (const Shape& shape : shapes_of[p]) {
    chosen[p] = shape;
    choose(shapes_of, parameters, p + 1, chosen, visit);
  }
}

}  // namespace

std::vector<CandidateForm> candidates(std::span<const std::vector<Shape>> shapes_of) {
  const size_t parameters = shapes_of.size();
  const unsigned sets = 1u << parameters;
  std::vector<CandidateForm> all = {{{}, 1.0 / sets}};
  for (unsigned set = 1; set < sets; ++set) {
    const std::vector<Form> forms = forms_of(set);
    double prior = 1.0 / sets / static_cast<double>(forms.size());
    for (int i = 0; i < std::popcount(set); ++i) prior /= static_cast<double>(shapes().size());
    std::vector<Shape> chosen(parameters);
    choose(shapes_of, set, 0, chosen, [&](std::span<const Shape> shapes) {
      for (const Form& form : forms) all.push_back({terms_of(form, shapes), prior});
    });
  }
  return all;
}

}  // namespace culprit::predict
