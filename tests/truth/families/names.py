# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Functions whose names compilers make. What is called as late is one of two alike; the other is innocent. Lambdas are
known by the line of named.cpp on which they begin."""


def late(function, share="(ranks-1)"):
    return f"1:{function}=late*{share}"


def cases(case):
    def one(name, function, **more):
        return case("named", 2, name, late(function, **more), modes="PWC")

    return [
        one("direct", "lambda at named.cpp:37 in direct"),
        one("generic", "lambda at named.cpp:47 in generic"),
        one("nested", "lambda at named.cpp:59 in nested"),
        one("function", "lambda at named.cpp:72 in function"),
        one("outside", "lambda at named.cpp:80"),
        one("member", "lambda at named.cpp:94 in Grid::sweep"),
        one("algorithm", "lambda at named.cpp:110 in algorithm"),
        one("instance", "apply<Late>"),
        one("functor", "operator"),
        one("thread", "lambda at named.cpp:154 in thread", share="2"),
    ]
